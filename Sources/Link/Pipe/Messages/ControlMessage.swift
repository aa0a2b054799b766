internal import StrataCore

/// A message between two links about their sessions, as JSON: `{"v":1,"hello":{…}}`.
public enum ControlMessage: Equatable, Sendable {
    /// The node whose name sorts first proposes a session.
    case hello(Greeting)
    /// The other node accepts it; its broker is connected.
    case welcome(Greeting)
    /// The session is over.
    case bye(session: UInt64, code: ByeCode)
    /// A link's message to itself in another node's name, with a random number.
    case probe(UInt64)
    /// A link's message to all that have its own node's name: its number, the number of its probe, and whether it
    /// uses the name already.
    case claim(link: UInt64, nonce: UInt64, isHeld: Bool)

    /// The content of a hello and of a welcome.
    public struct Greeting: Equatable, Sendable {
        /// The name of the sender's node.
        public var node: String
        /// The number of the sender's process, which differs for each process.
        public var link: UInt64
        /// The number of the session. Numbers of one process only go up.
        public var session: UInt64
        /// The most bytes that the sender holds for its broker; a multiple of 1,024.
        public var window: Int

        public init(node: String, link: UInt64, session: UInt64, window: Int) {
            self.node = node
            self.link = link
            self.session = session
            self.window = window
        }
    }

    static let version: Int64 = 1
    /// The longest control message, in bytes.
    public static let longest = 1 << 10

    /// Reads a control message.
    /// - Throws: if it has another version, or is no message that this version knows.
    public init(reading bytes: UnsafeRawBufferPointer) throws(ControlError) {
        guard bytes.count <= Self.longest else { throw .unreadable }
        let json: JSON
        do { json = try JSON(parsing: bytes, maximumDepth: 4) } catch { throw .unreadable }
        guard let version = json["v"]?.integer else { throw .unreadable }
        guard version == Self.version else { throw .version(version) }
        if let hello = json["hello"] {
            self = .hello(try Greeting(hello))
        } else if let welcome = json["welcome"] {
            self = .welcome(try Greeting(welcome))
        } else if let bye = json["bye"], let session = Self.number(bye["session"]),
            let code = bye["code"]?.string.flatMap(ByeCode.init(rawValue:))
        {
            self = .bye(session: session, code: code)
        } else if let nonce = Self.number(json["probe"]?["nonce"]) {
            self = .probe(nonce)
        } else if let claim = json["claim"], let link = Self.number(claim["link"]),
            let nonce = Self.number(claim["nonce"]), let isHeld = claim["held"]?.bool
        {
            self = .claim(link: link, nonce: nonce, isHeld: isHeld)
        } else {
            throw .unreadable
        }
    }

    /// Returns the message as JSON.
    public func encoded() -> [UInt8] {
        let member: JSON.Member
        switch self {
        case .hello(let greeting): member = JSON.Member("hello", greeting.json)
        case .welcome(let greeting): member = JSON.Member("welcome", greeting.json)
        case .bye(let session, let code):
            member = JSON.Member("bye", ["session": .string(Self.text(session)), "code": .string(code.rawValue)])
        case .probe(let nonce): member = JSON.Member("probe", ["nonce": .string(Self.text(nonce))])
        case .claim(let link, let nonce, let isHeld):
            member = JSON.Member(
                "claim", ["link": .string(Self.text(link)), "nonce": .string(Self.text(nonce)), "held": .bool(isHeld)])
        }
        return JSON.object([JSON.Member("v", .integer(Self.version)), member]).encoded()
    }

    fileprivate static func text(_ number: UInt64) -> String { String(number, radix: 16) }

    /// Reads a number in 1 to 16 hexadecimal digits; 0 is none.
    fileprivate static func number(_ json: JSON?) -> UInt64? {
        guard let text = json?.string, (1...16).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let number = UInt64(text, radix: 16), number != 0
        else { return nil }
        return number
    }
}

extension ControlMessage.Greeting {
    fileprivate init(_ json: JSON) throws(ControlError) {
        guard let node = json["node"]?.string, let link = ControlMessage.number(json["link"]),
            let session = ControlMessage.number(json["session"]), let window = json["window"]?.integer,
            (64...Int64(PipeSettings.largestWindow >> 10)).contains(window)
        else { throw .unreadable }
        self.init(node: node, link: link, session: session, window: Int(window) << 10)
    }

    fileprivate var json: JSON {
        [
            "node": .string(node), "link": .string(ControlMessage.text(link)),
            "session": .string(ControlMessage.text(session)), "window": .integer(Int64(window >> 10)),
        ]
    }
}
