public import StrataCore

// What of Core a module's author meets, so that `import Strata` is enough.

/// Why a request failed: its `code`, a `message` for people, `ran`, which says
/// whether the handler ran (`.no`, `.maybe`, `.yes`), and in `body` what the callee
/// sent along, which `details(as:)` reads.
public typealias BusError = StrataCore.BusError
/// An error's code, written as a text: a module's own, `"Login.wrong-password"`, or
/// one of the bus's, which have names here: `.unavailable`, `.died`.
public typealias ErrorCode = StrataCore.ErrorCode
/// A JSON value: written as literals, or by `.string(…)`, `.integer(…)`,
/// `.number(…)`, `.bool(…)`, `.array(…)`; read by `value["name"]`, and by `string`,
/// `integer`, `bool`, `array` and `object`, each nil for another kind of value.
/// `JSON(parsing:)` reads text or bytes, 64 deep at most, and `encoded()` gives
/// bytes.
public typealias JSON = StrataCore.JSON
