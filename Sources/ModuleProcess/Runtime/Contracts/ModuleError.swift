public import StrataCore

/// What a handler throws to answer a request with a code of its own.
///
///     throw ModuleError("Login.wrong-password", "the password of \(user) is another one")
///
/// The caller gets it as a `BusError` of that code. Any other error that a
/// handler throws reaches the caller as `failed`, with its description.
public struct ModuleError: Error, Sendable, CustomStringConvertible {
    /// With a dot, the module's name before it; or one of the bus's that a
    /// callee may send.
    public var code: ErrorCode
    /// What was asked, what was found, and what to do.
    public var message: String
    /// What the caller is told of whether its request was begun. `no` lets it
    /// send the request again, so say that only where nothing was done: it is so
    /// for `overloaded` and `unknown-action` where nothing else is said, and
    /// `yes` for all others.
    public var ran: BusError.Ran
    /// JSON for the caller's program; empty for none.
    public var body: [UInt8]

    /// With JSON, or nothing, for the caller's program. Where `ran` isn't said it is
    /// `yes`, but `no` of `overloaded` and `unknown-action`.
    public init(_ code: ErrorCode, _ message: String, ran: BusError.Ran? = nil, body: JSON? = nil) {
        self.code = code
        self.message = message
        self.ran = ran ?? Self.ran(by: code)
        self.body = body?.encoded() ?? []
    }

    /// - Parameters:
    ///   - code: one with a dot, such as `Login.wrong-password`, or one of
    ///     those that a callee may send.
    ///   - message: what was asked, what was found, and what to do.
    ///   - ran: what is known of its having been done.
    ///   - details: read at the other end by `BusError.details(as:)`.
    @ModuleActor
    public init(_ code: ErrorCode, _ message: String, ran: BusError.Ran? = nil, details: some Encodable) throws {
        self.init(code, message, ran: ran)
        body = try Coding.encode(details)
    }

    private static func ran(by code: ErrorCode) -> BusError.Ran {
        code == .overloaded || code == .unknownAction ? .no : .yes
    }

    /// The parameters aren't what the action takes: `bad-params`.
    public static func badParams(_ message: String) -> ModuleError { ModuleError(.badParams, message) }

    public var description: String { "\(code): \(message)" }
}

extension BusError {
    /// What the callee sent along with the error.
    @ModuleActor
    public func details<Details: Decodable>(as type: Details.Type) throws -> Details {
        try Coding.decode(type, body)
    }
}

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
