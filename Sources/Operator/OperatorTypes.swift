public import StrataCore
public import StrataLoop

// What of Core a tool's author meets, so that `import StrataOperator` is enough.

/// An event loop: all of a client is on its thread.
public typealias Loop = StrataLoop.Loop
/// Calls back after a time, on a loop.
public typealias LoopTimer = StrataLoop.LoopTimer
/// A JSON value.
public typealias JSON = StrataCore.JSON
/// An error that the bus or a callee answers.
public typealias BusError = StrataCore.BusError
/// The code of such an error.
public typealias ErrorCode = StrataCore.ErrorCode
