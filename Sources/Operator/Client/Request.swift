internal import Glibc
public import StrataCore
internal import StrataLoop

/// A request to a bus, and the handler of its partial replies.
public struct Request {
    /// The kind: a call, an open, a broadcast or a report.
    public var kind: Header.Kind
    /// The target: `Interface/action`, or the URL of an open; empty for a notification.
    public var to: String
    /// The params as JSON; empty for null.
    public var body: [UInt8]
    /// The deadline in milliseconds; nil is the bus's default, 0 is none.
    public var deadline: UInt64?
    /// The number of partial replies that may be sent without further credit; nil is the bus's
    /// default. When a fourth of it is used up, that much credit is returned.
    public var credit: UInt64?
    /// Further members of the header.
    public var members: [(StaticString, String)] = []
    /// The header's `meta` as JSON; empty for none.
    public var meta: [UInt8] = []
    /// Whether the bus sets it no deadline, as for `bus/monitor`.
    public var isEndless = false
    /// Called with each partial reply.
    public var onPartial: ([UInt8]) -> Void = { _ in }
    private var given: UInt64?

    /// Makes a call with params.
    /// - Parameters:
    ///   - to: the action, `Interface/action`.
    ///   - params: nil for none.
    ///   - deadline: milliseconds; nil is the bus's default, 0 is none.
    public init(to: String, _ params: JSON?, deadline: UInt64? = nil) {
        self.init(to: to, body: params?.encoded() ?? [], deadline: deadline)
    }

    /// Makes a request, by default a call.
    /// - Parameters:
    ///   - kind: a call, an open, a broadcast or a report.
    ///   - to: `Interface/action`, or the URL of an open; empty for a notification.
    ///   - body: JSON; empty for null.
    ///   - deadline: milliseconds; nil is the bus's default, 0 is none.
    public init(_ kind: Header.Kind = .call, to: String = "", body: [UInt8] = [], deadline: UInt64? = nil) {
        (self.kind, self.to, self.body, self.deadline) = (kind, to, body, deadline)
    }

    /// The bus's default deadline, in milliseconds.
    public static let standardDeadline: UInt64 = 30_000

    /// Whether a large body may go in a memory file.
    var mayHaveFile: Bool { kind == .call || kind == .report }

    /// How long ``BusClient/send(_:onTaken:)`` waits for the next reply, in milliseconds; nil if there is
    /// no limit. The default is the request's deadline and 5 s more.
    public var patience: UInt64? {
        get {
            if let given { return given }
            if isEndless || deadline == 0 { return nil }
            return (deadline ?? Self.standardDeadline) + 5_000
        }
        set { given = newValue }
    }
}

/// The answer of a bus to hello.
public struct Welcome: Sendable {
    /// The JSON from the bus.
    public let json: JSON

    /// The longest frame and header that the bus accepts.
    public let limits: FrameLimits

    /// The longest body in a memory file that the bus accepts, in bytes; 0 if it takes none.
    let longestInFile: Int

    /// Nil if the body isn't a JSON object.
    init?(_ body: [UInt8]) {
        guard let json = try? JSON(parsing: body), json.object != nil else { return nil }
        func limit(_ name: String) -> UInt32? { json["limits"]?[name]?.integer.flatMap { UInt32(exactly: $0) } }
        let standard = FrameLimits.beforeHello
        limits = FrameLimits(frame: limit("frame") ?? standard.frame, header: limit("header") ?? standard.header)
        longestInFile = json["limits"]?["body"]?.integer.map { Int(clamping: $0) } ?? 0
        self.json = json
    }

    /// The app's name.
    public var app: String { json["app"]?.string ?? "?" }
    /// What the broker can do beyond the first version 1 of the protocol.
    public var features: [String] { json["features"]?.array?.compactMap(\.string) ?? [] }
    /// The app's environment, as `STRATA_ENV` names it; empty for none.
    public var env: String { json["env"]?.string ?? "" }
    /// The names of the app's levels, foundation first.
    public var levels: [String] { json["levels"]?.array?.compactMap(\.string) ?? [] }
    /// The URL schemes that the app opens.
    public var schemes: [String] { json["schemes"]?.array?.compactMap(\.string) ?? [] }
}

extension FrameLimits {
    /// The limits until the answer to hello gives the bus's own.
    static let beforeHello = FrameLimits(frame: 16 << 20, header: 16 << 10)
}

/// The reason why a client has no answer. The texts are for people, and safe for a terminal.
public enum ClientError: Error, CustomStringConvertible {
    /// There is no bus, the connection has ended, or no answer comes.
    case noBus(String)
    /// The path or the request can't be used.
    case unusable(String)
    /// The bus or the callee answered with this error.
    case refused(BusError)
    /// The bus answered with something unreadable.
    case unreadable(String)
    /// An endless stream was silent for this many milliseconds.
    case quiet(UInt64)

    public var description: String {
        switch self {
        case .noBus(let text), .unusable(let text), .unreadable(let text): text
        case .refused(let error): error.description
        case .quiet(let milliseconds): "the stream was quiet for \(milliseconds) ms"
        }
    }

    /// Makes the error for a connection that failed.
    init(connectingTo path: String, _ error: SystemError) {
        self =
            switch SocketAddress.occupant(path) {
            case .nothing: .noBus("no bus at \(path): nothing is there")
            case .dead: .noBus("no bus at \(path): a dead socket is left there, because its broker has ended")
            case .foreign: .unusable("\(path) is not a socket")
            case .unknown(let code): .unusable("\(path) can't be used: \(String(cString: strerror(code)))")
            // The bus started just now, or its backlog is full.
            case .live: .noBus("the bus can't be reached: \(error)")
            }
    }
}
