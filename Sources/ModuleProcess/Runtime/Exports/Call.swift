public import StrataCore

/// A request as it came, for handlers that want more than its parameters, and
/// for untyped ones.
public struct Call: Sendable {
    /// `Interface/action`; of an event `module/event`.
    public let to: String
    /// The sender's module name, or `operator`, `launcher`, `bus`.
    public let from: String
    /// An event's name; empty for a call.
    public let name: String
    /// The whole URL, where somebody opened one.
    public let url: String?
    /// What the caller added as `meta`: a JSON object; empty for none.
    public let meta: [UInt8]
    /// The parameters' bytes: JSON; empty for null.
    public let body: [UInt8]
    /// When the time for it is over, on the clock of `Bus.now`, in
    /// milliseconds; nil where it has no end.
    public let deadline: UInt64?

    /// The parameters.
    /// - Throws: `bad-params`, which the caller is told unless it is caught.
    public var params: JSON {
        get throws {
            do {
                return try Coding.json(body)
            } catch {
                throw ModuleError.badParams("the body is no JSON: \(error)")
            }
        }
    }

    /// The parameters, as a type of the handler's.
    /// - Throws: `bad-params`, which the caller is told unless it is caught.
    @ModuleActor
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try body.withUnsafeBytes { try Coding.params(type, $0) }
    }

    @ModuleActor
    init(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, _ call: IncomingCall) {
        to = call.isOfBus ? header.to.text : call.name
        from = header.from.text
        name = header.members.contains(.name) ? header.name.text : ""
        url = header.members.contains(.url) ? header.url.text : nil
        meta = header.members.contains(.meta) ? Array(header.meta) : []
        self.body = Array(body)
        deadline = call.deadline
    }
}

/// A notice as it came to an observer.
public struct Delivery: Sendable {
    /// The notification's name.
    public let name: String
    /// What it is about, where its sender said so.
    public let object: String?
    /// The sender's module name, or `operator`.
    public let from: String
    /// The sender's level.
    public let level: String
    /// How many of this observation were replaced by newer ones just before
    /// this one: only where it keeps `latest`.
    public let missed: Int
    /// Whether it was reported, and its sender waits for this observer's end.
    public let isReport: Bool
    /// What the sender added as `meta`: a JSON object; empty for none.
    public let meta: [UInt8]
    /// The content's bytes: JSON; empty for null.
    public let body: [UInt8]

    /// The content.
    public var content: JSON {
        get throws { try Coding.json(body) }
    }

    /// The content, as a type of the observer's.
    @ModuleActor
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try body.withUnsafeBytes { try Coding.params(type, $0) }
    }

    init(_ header: borrowing Header, _ body: UnsafeRawBufferPointer) {
        name = header.name.text
        object = header.members.contains(.object) ? header.object.text : nil
        from = header.from.text
        level = header.level.text
        missed = Int(header.missed)
        isReport = header.members.contains(.id)
        meta = Array(header.meta)
        self.body = Array(body)
    }
}

/// Which notices wait for an observer that is slower than they come.
public enum Keep: String, Sendable {
    /// Every one; an observer that falls too far behind loses its connection.
    case all
    /// The newest alone; `Delivery.missed` says how many it replaced.
    case latest
}
