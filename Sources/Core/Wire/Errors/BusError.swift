internal import CUV

/// An error that is the answer to a request, or that ends a connection.
public struct BusError: Error, Sendable, CustomStringConvertible {
    public var code: ErrorCode
    /// What was requested, what was found, and what to do.
    public var message: String
    /// Whether the request's handler ran, as far as the bus knows.
    public var ran: Ran
    /// The error's body from the callee, as JSON; empty if there is none.
    public var body: [UInt8]
    /// The failure that led to this one; nil if no request that the callee made for this one failed.
    public var root: Root?

    public init(_ code: ErrorCode, _ message: String, ran: Ran = .no, body: [UInt8] = [], root: Root? = nil) {
        self.code = code
        self.message = message
        self.ran = ran
        self.body = body
        self.root = root
    }

    public var description: String { "\(code): \(message)" }

    /// Returns the error with its message cut to `most` bytes as a header encodes them. Escapes
    /// count, since they are longer than the characters that they stand for.
    public func shortened(to most: Int) -> BusError {
        var shorter = self
        shorter.message = message.shortened(to: most)
        return shorter
    }

    /// Whether the handler of a failed request ran.
    public enum Ran: String, Sendable {
        /// It never started, so the request may be sent again.
        case no
        /// The request was delivered, but no answer came.
        case maybe
        /// The callee itself answered with the error.
        case yes
    }
}

/// The reason why a request failed, as it is in an error's `code`.
///
/// Codes without a dot are the bus's own (the protocol's section 12), and are listed here. A
/// module's own codes have one: `Login.wrong-password`.
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
    public static let tooDeep = ErrorCode("too-deep")
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
    public static let incompatible = ErrorCode("incompatible")
    public static let unauthorized = ErrorCode("unauthorized")
    public static let unavailable = ErrorCode("unavailable")
    public static let badParams = ErrorCode("bad-params")
    public static let died = ErrorCode("died")
    public static let replaced = ErrorCode("replaced")
    public static let deadlineExceeded = ErrorCode("deadline-exceeded")
    public static let cancelled = ErrorCode("cancelled")

    /// All codes of the bus itself.
    public static let ofTheBus: [ErrorCode] = [
        .badFrame, .badHeader, .tooLarge, .notRegistered, .badVersion, .slowConsumer, .shuttingDown, .failed,
        .overloaded, .unknownKind, .badID, .unknownModule, .unknownInterface, .unknownAction, .unknownInstance,
        .unknownScheme, .unknownHost, .unknownPath, .badURL, .nameTaken, .levelMismatch, .forbidden,
        .levelViolation, .undeclared, .unauthorized, .unavailable, .badParams, .died, .replaced, .deadlineExceeded,
        .cancelled, .tooDeep, .incompatible,
    ]
}

extension String {
    /// Returns the text cut to `most` bytes as a header encodes it, with an ellipsis at the cut.
    func shortened(to most: Int) -> String {
        guard utf8.count > most / 6 else { return self }
        var left = most
        for index in unicodeScalars.indices {
            let scalar = unicodeScalars[index]
            left -= scalar.value < 0x20 ? 6 : scalar == "\"" || scalar == "\\" ? 2 : UTF8.width(scalar)
            if left < 0 { return self[..<index] + "…" }
        }
        return self
    }
}

/// An error from the operating system or from libuv.
public struct SystemError: Error, CustomStringConvertible, Sendable {
    /// The errno, positive.
    public var code: Int32
    /// What was attempted, as a phrase: `bind /run/app.sock`.
    public var operation: String
    /// The place in this project's source.
    public var location: String

    /// Takes an errno, or libuv's negative form of one.
    public init(_ code: Int32, _ operation: String, file: StaticString = #fileID, line: UInt = #line) {
        self.code = code < 0 ? -code : code
        self.operation = operation
        self.location = "\(file):\(line)"
    }

    public var description: String {
        "\(operation): \(String(cString: uv_strerror(-code)))"
    }
}
