public import StrataCore

// What of Core a module's author meets, so that `import Strata` is enough.

/// Why a request failed; see `StrataCore.BusError`.
public typealias BusError = StrataCore.BusError
/// An error's code; see `StrataCore.ErrorCode`.
public typealias ErrorCode = StrataCore.ErrorCode
/// A JSON value; see `StrataCore.JSON`.
public typealias JSON = StrataCore.JSON
