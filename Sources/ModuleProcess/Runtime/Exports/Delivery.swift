public import StrataCore

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
