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
    /// JSON for the caller's program; empty for none.
    public var body: [UInt8]

    public init(_ code: ErrorCode, _ message: String, body: JSON? = nil) {
        self.code = code
        self.message = message
        self.body = body?.encoded() ?? []
    }

    /// - Parameter details: read at the other end by `BusError.details(as:)`.
    @ModuleActor
    public init(_ code: ErrorCode, _ message: String, details: some Encodable) throws {
        self.code = code
        self.message = message
        body = try Array(Coding.encode(details))
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
