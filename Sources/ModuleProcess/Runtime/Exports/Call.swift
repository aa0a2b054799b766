public import StrataCore

/// A request with everything that arrived with it, for handlers that need more than its parameters,
/// and for handlers without a contract.
public struct Call: Sendable {
    /// `Interface/action`; `module/event` for an event.
    public let to: String
    /// The sender's module name, or `operator`, `launcher` or `bus`.
    public let from: String
    /// The name of an event; empty for a call.
    public let name: String
    /// The whole URL if the call opens one; nil otherwise.
    public let url: String?
    /// The `meta` that the caller added: a JSON object; empty if there is none.
    public let meta: [UInt8]
    /// The bytes of the parameters: JSON; empty for null.
    public let body: [UInt8]
    /// The descriptors that came with the call, if its action takes some.
    public let descriptors: [Descriptor]
    /// The time when the call expires, in milliseconds on the clock of `Bus.now`; nil if it never
    /// does.
    public let deadline: UInt64?

    /// The parameters as JSON.
    /// - Throws: `bad-params`, which answers the call unless the handler catches it.
    public var params: JSON {
        get throws {
            do {
                return try Coding.json(body)
            } catch {
                throw ModuleError.badParams("the body is not JSON: \(error)")
            }
        }
    }

    /// Decodes the parameters as a type of the handler's choice.
    /// - Throws: `bad-params`, which answers the call unless the handler catches it.
    @ModuleActor
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try body.withUnsafeBytes { try Coding.params(type, $0) }
    }

    /// One sender often makes several calls. Making its name's text each time takes 210 instructions.
    @ModuleActor
    @exclusivity(unchecked) private static var senders = LatestText()

    @ModuleActor
    init(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, _ call: IncomingCall) {
        to = call.isOfBus ? header.to.text : call.name
        from = Self.senders.text(of: header.from)
        name = header.members.contains(.name) ? header.name.text : ""
        url = header.members.contains(.url) ? header.url.text : nil
        meta = header.members.contains(.meta) ? Array(header.meta) : []
        self.body = Array(body)
        descriptors = header.members.contains(.descriptors) ? call.takeDescriptors() : []
        deadline = call.deadline
    }
}

/// A notice as it arrived at an observer.
public struct Delivery: Sendable {
    /// The notification's name.
    public let name: String
    /// The object that the notice is about; nil if its sender named none.
    public let object: String?
    /// The sender's module name, or `operator`.
    public let from: String
    /// The sender's level.
    public let level: String
    /// The number of notices that newer ones replaced just before this one. Always 0 unless the
    /// observation keeps `latest`.
    public let missed: Int
    /// Whether the bus had kept it for this observation, which has only begun since.
    public let isRetained: Bool
    /// Whether it is a report, whose sender waits until this observer has handled it.
    public let isReport: Bool
    /// The `meta` that the sender added: a JSON object; empty if there is none.
    public let meta: [UInt8]
    /// The bytes of the content: JSON; empty for null.
    public let body: [UInt8]
    /// The descriptors that came with a report.
    public let descriptors: [Descriptor]

    /// The content as JSON.
    public var content: JSON {
        get throws { try Coding.json(body) }
    }

    /// Decodes the content as a type of the observer's choice.
    @ModuleActor
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try body.withUnsafeBytes { try Coding.params(type, $0) }
    }

    init(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, _ descriptors: [Descriptor] = []) {
        name = header.name.text
        object = header.members.contains(.object) ? header.object.text : nil
        from = header.from.text
        level = header.level.text
        missed = Int(header.missed)
        isRetained = header.flags.contains(.retained)
        isReport = header.members.contains(.id)
        meta = Array(header.meta)
        self.body = Array(body)
        self.descriptors = descriptors
    }
}

/// Which notices are kept for an observer while it is slower than they arrive.
public enum Keep: String, Sendable {
    /// Keeps every notice. An observer that falls too far behind loses its connection.
    case all
    /// Keeps only the newest notice. `Delivery.missed` counts those that it replaced.
    case latest
}
