public import StrataCore

/// An error that a handler throws to answer a request with a code of its own.
///
///     throw ModuleError("Login.wrong-password", "the password of \(user) is another one")
///
/// The caller receives it as a `BusError` with that code. Any other error that a handler throws
/// reaches the caller as `failed`, with its description.
public struct ModuleError: Error, Sendable, CustomStringConvertible {
    /// The error code. A module's own code starts with the module's name and a dot; a callee may
    /// also send some of the bus's codes.
    public var code: ErrorCode
    /// A message for people: what was asked, what was found, and what to do.
    public var message: String
    /// Whether the request was begun, as the caller is to know it. `no` lets the caller send the
    /// request again, so use it only if nothing was done. The default is `no` for `overloaded` and
    /// `unknown-action`, and `yes` for every other code.
    public var ran: BusError.Ran
    /// JSON for the caller's program; empty if there is none.
    public var body: [UInt8]

    /// Creates an error, optionally with JSON for the caller's program.
    ///
    /// If `ran` is nil, it becomes `no` for `overloaded` and `unknown-action`, and `yes` for every
    /// other code.
    public init(_ code: ErrorCode, _ message: String, ran: BusError.Ran? = nil, body: JSON? = nil) {
        self.code = code
        self.message = message
        self.ran = ran ?? Self.ran(by: code)
        self.body = body?.encoded() ?? []
    }

    /// Creates an error with details that are encoded as JSON for the caller's program.
    /// - Parameters:
    ///   - code: A code with a dot, such as `Login.wrong-password`, or one of the bus's codes that
    ///     a callee may send.
    ///   - message: What was asked, what was found, and what to do.
    ///   - ran: Whether the request was begun; nil for the default of the code.
    ///   - details: The details, which the caller reads with `BusError.details(as:)`.
    @ModuleActor
    public init(_ code: ErrorCode, _ message: String, ran: BusError.Ran? = nil, details: some Encodable) throws {
        self.init(code, message, ran: ran)
        body = try Coding.encode(details)
    }

    private static func ran(by code: ErrorCode) -> BusError.Ran {
        code == .overloaded || code == .unknownAction ? .no : .yes
    }

    /// Returns a `bad-params` error: the parameters aren't what the action takes.
    public static func badParams(_ message: String) -> ModuleError { ModuleError(.badParams, message) }

    public var description: String { "\(code): \(message)" }
}

extension BusError {
    /// Decodes the details that the callee sent with the error.
    @ModuleActor
    public func details<Details: Decodable>(as type: Details.Type) throws -> Details {
        try Coding.decode(type, body)
    }
}

// The types of StrataCore that module authors use, so that `import Strata` is enough.

/// The reason why a request failed.
///
/// `code` identifies the error, and `message` explains it to people. `ran` says whether the handler
/// ran: `.no`, `.maybe` or `.yes`. `body` holds what the callee sent with the error; `details(as:)`
/// reads it. `root` is the failure that the error began with, if it passed through modules.
public typealias BusError = StrataCore.BusError
/// The code of an error, written as a string literal. A module has codes of its own, such as
/// `"Login.wrong-password"`; the bus's codes have names here, such as `.unavailable` and `.died`.
public typealias ErrorCode = StrataCore.ErrorCode
/// A JSON value.
///
/// Write one as a literal, or with `.string(…)`, `.integer(…)`, `.number(…)`, `.bool(…)`,
/// `.array(…)`. Read one with `value["name"]`, and with `string`, `integer`, `bool`, `array` and
/// `object`, which are nil for a value of another kind. `JSON(parsing:)` reads text or bytes up to
/// 64 levels deep; `encoded()` returns bytes.
public typealias JSON = StrataCore.JSON
