internal import Glibc
public import StrataCore
internal import StrataLoop

/// What is sent to a bus, and what becomes of its partial replies.
public struct Request {
    /// A call, an open, a broadcast or a report.
    public var kind: Header.Kind
    /// `Interface/action`; the URL of an open; empty for a notification.
    public var to: String
    /// JSON; empty for null.
    public var body: [UInt8]
    /// Milliseconds; nil is the bus's default, 0 none.
    public var deadline: UInt64?
    /// Partial replies that may come before the first are taken; nil is the bus's
    /// default. Credit for them goes back when a fourth of it is used.
    public var credit: UInt64?
    /// Further members of the header.
    public var members: [(StaticString, String)] = []
    /// JSON; empty for none.
    public var meta: [UInt8] = []
    /// Has no deadline on the bus: `bus/monitor`.
    public var isEndless = false
    /// Gets each partial reply.
    public var onPartial: ([UInt8]) -> Void = { _ in }
    private var given: UInt64?

    /// A call with params.
    /// - Parameters:
    ///   - to: `Interface/action`.
    ///   - params: nil for none.
    ///   - deadline: milliseconds; nil is the bus's default, 0 none.
    public init(to: String, _ params: JSON?, deadline: UInt64? = nil) {
        self.init(to: to, body: params?.encoded() ?? [], deadline: deadline)
    }

    /// A call, where nothing else is said.
    /// - Parameters:
    ///   - kind: a call, an open, a broadcast or a report.
    ///   - to: `Interface/action`; the URL of an open; empty for a notification.
    ///   - body: JSON; empty for null.
    ///   - deadline: milliseconds; nil is the bus's default, 0 none.
    public init(_ kind: Header.Kind = .call, to: String = "", body: [UInt8] = [], deadline: UInt64? = nil) {
        (self.kind, self.to, self.body, self.deadline) = (kind, to, body, deadline)
    }

    /// The bus's deadline where none is said, in milliseconds.
    public static let standardDeadline: UInt64 = 30_000

    /// How long ``BusClient/send(_:)`` waits for the next reply, in milliseconds: as was
    /// said, or the request's deadline and some more. Nil where it may take forever.
    public var patience: UInt64? {
        get {
            if let given { return given }
            if isEndless || deadline == 0 { return nil }
            return (deadline ?? Self.standardDeadline) + 5_000
        }
        set { given = newValue }
    }
}

/// What a bus answers to hello.
public struct Welcome: Sendable {
    /// As the bus said it.
    public let json: JSON

    /// The longest frame and header that the bus takes.
    public let limits: FrameLimits

    /// Nil for what is no object.
    init?(_ body: [UInt8]) {
        guard let json = try? JSON(parsing: body), json.object != nil else { return nil }
        func limit(_ name: String) -> UInt32? { json["limits"]?[name]?.integer.flatMap { UInt32(exactly: $0) } }
        let standard = FrameLimits.beforeHello
        limits = FrameLimits(frame: limit("frame") ?? standard.frame, header: limit("header") ?? standard.header)
        self.json = json
    }

    /// The app's name.
    public var app: String { json["app"]?.string ?? "?" }
    /// The app's environment, as `STRATA_ENV` names it; empty for none.
    public var env: String { json["env"]?.string ?? "" }
    /// The names of the app's levels, foundation first.
    public var levels: [String] { json["levels"]?.array?.compactMap(\.string) ?? [] }
    /// The URL schemes that the app opens.
    public var schemes: [String] { json["schemes"]?.array?.compactMap(\.string) ?? [] }
}

extension FrameLimits {
    /// Until hello tells those of the bus.
    static let beforeHello = FrameLimits(frame: 16 << 20, header: 16 << 10)
}

/// Why a client has no answer. The texts are for people, and can be given to a terminal.
public enum ClientError: Error, CustomStringConvertible {
    /// No bus is there, the connection has ended, or no answer comes.
    case noBus(String)
    /// The path or the request can't be used.
    case unusable(String)
    /// The bus or the callee answered with this error.
    case refused(BusError)
    /// The bus answered with what can't be read.
    case unreadable(String)
    /// An endless stream was silent for so many milliseconds.
    case quiet(UInt64)

    public var description: String {
        switch self {
        case .noBus(let text), .unusable(let text), .unreadable(let text): text
        case .refused(let error): error.description
        case .quiet(let milliseconds): "the stream was quiet for \(milliseconds) ms"
        }
    }

    /// Why nobody took a connection.
    init(connectingTo path: String, _ error: SystemError) {
        self =
            switch SocketAddress.occupant(path) {
            case .nothing: .noBus("no bus at \(path): nothing is there")
            case .dead: .noBus("no bus at \(path): a dead socket is left there, its broker is gone")
            case .foreign: .unusable("\(path) is no socket")
            case .unknown(let code): .unusable("\(path) can't be used: \(String(cString: strerror(code)))")
            // It came this moment, or can't keep up.
            case .live: .noBus("the bus can't be reached: \(error)")
            }
    }
}
