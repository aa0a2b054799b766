/// Why a request failed, as it stands in an error's `code`. Those without a
/// dot are the bus's own (the protocol's section 12), and are listed here; a
/// module's own have one: `Login.wrong-password`.
public struct ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    public static let badFrame = ErrorCode("bad-frame")
    public static let badHeader = ErrorCode("bad-header")
    public static let tooLarge = ErrorCode("too-large")
    public static let notRegistered = ErrorCode("not-registered")
    public static let badVersion = ErrorCode("bad-version")
    public static let slowConsumer = ErrorCode("slow-consumer")
    public static let shuttingDown = ErrorCode("shutting-down")
    public static let failed = ErrorCode("failed")
    public static let overloaded = ErrorCode("overloaded")
    public static let unknownKind = ErrorCode("unknown-kind")
    public static let badID = ErrorCode("bad-id")
    public static let unknownModule = ErrorCode("unknown-module")
    public static let unknownInterface = ErrorCode("unknown-interface")
    public static let unknownAction = ErrorCode("unknown-action")
    public static let unknownInstance = ErrorCode("unknown-instance")
    public static let unknownScheme = ErrorCode("unknown-scheme")
    public static let unknownHost = ErrorCode("unknown-host")
    public static let unknownPath = ErrorCode("unknown-path")
    public static let badURL = ErrorCode("bad-url")
    public static let nameTaken = ErrorCode("name-taken")
    public static let levelMismatch = ErrorCode("level-mismatch")
    public static let forbidden = ErrorCode("forbidden")
    public static let levelViolation = ErrorCode("level-violation")
    public static let undeclared = ErrorCode("undeclared")
    public static let unauthorized = ErrorCode("unauthorized")
    public static let unavailable = ErrorCode("unavailable")
    public static let badParams = ErrorCode("bad-params")
    public static let died = ErrorCode("died")
    public static let replaced = ErrorCode("replaced")
    public static let deadlineExceeded = ErrorCode("deadline-exceeded")
    public static let cancelled = ErrorCode("cancelled")

    /// All of the bus's own.
    public static let ofTheBus: [ErrorCode] = [
        .badFrame, .badHeader, .tooLarge, .notRegistered, .badVersion, .slowConsumer, .shuttingDown, .failed,
        .overloaded, .unknownKind, .badID, .unknownModule, .unknownInterface, .unknownAction, .unknownInstance,
        .unknownScheme, .unknownHost, .unknownPath, .badURL, .nameTaken, .levelMismatch, .forbidden,
        .levelViolation, .undeclared, .unauthorized, .unavailable, .badParams, .died, .replaced, .deadlineExceeded,
        .cancelled,
    ]
}
