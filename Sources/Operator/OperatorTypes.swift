public import StrataCore
public import StrataLoop

// The types of Core that the author of a tool needs, so that `import StrataOperator` is enough.

/// An event loop; a client is used only on its thread.
public typealias Loop = StrataLoop.Loop
/// A timer on a loop.
public typealias LoopTimer = StrataLoop.LoopTimer
/// The way to a loop from another thread.
public typealias WakeUp = StrataLoop.WakeUp
/// A JSON value.
public typealias JSON = StrataCore.JSON
/// An error that the bus or a callee answers with.
public typealias BusError = StrataCore.BusError
/// The code of such an error.
public typealias ErrorCode = StrataCore.ErrorCode
