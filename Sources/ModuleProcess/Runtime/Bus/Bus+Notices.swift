public import StrataCore

extension Bus {
    /// Sends a notification to every observer in a later level. Never waits.
    /// - Parameters:
    ///   - broadcast: The notification.
    ///   - meta: An object that observers find in `Delivery.meta`. `call` describes its limits.
    ///   - retain: Whether the bus keeps it for observers that begin later, instead of the last one of
    ///     this name and object. `forget` takes it back. If it can't be kept, which only
    ///     `broadcastAndCount` throws, nobody gets it.
    /// - Throws: `unavailable` without a connection, `overloaded` if too many bytes are unsent.
    public func broadcast<B: Broadcast>(_ broadcast: B, meta: JSON? = nil, retain: Bool = false) throws {
        let outgoing = try Outgoing(.broadcast, name: B.name, object: broadcast.object, retains: retain).with(
            meta: meta)
        try runtime.send(outgoing, try encode(broadcast, for: outgoing))
    }

    /// Broadcasts a notification by name, without a contract.
    public func broadcast(
        _ name: String, _ content: JSON = nil, object: String? = nil, meta: JSON? = nil, retain: Bool = false
    ) throws {
        let outgoing = try Outgoing(.broadcast, name: name, object: object, retains: retain).with(meta: meta)
        try runtime.send(outgoing, Body(content))
    }

    /// Broadcasts as `broadcast` does, and waits until the bus has queued the notice for its observers.
    /// - Returns: The number of observations that get it.
    /// - Throws: Unlike `broadcast`, also what the bus refuses.
    @discardableResult
    public func broadcastAndCount<B: Broadcast>(
        _ broadcast: B, deadline: Duration? = nil, meta: JSON? = nil, retain: Bool = false
    ) async throws -> Int {
        let outgoing = try Outgoing(
            .broadcast, name: B.name, object: broadcast.object, deadline: deadline,
            retains: retain
        ).with(meta: meta)
        return try count("recipients", try await runtime.request(outgoing, try encode(broadcast, for: outgoing)))
    }

    /// Broadcasts a notification by name, without a contract, and waits until the bus has queued it.
    /// - Returns: The number of observations that get it.
    @discardableResult
    public func broadcastAndCount(
        _ name: String, _ content: JSON = nil, object: String? = nil, deadline: Duration? = nil, meta: JSON? = nil,
        retain: Bool = false
    ) async throws -> Int {
        let outgoing = try Outgoing(
            .broadcast, name: name, object: object, deadline: deadline, retains: retain
        ).with(meta: meta)
        return try count("recipients", try await runtime.request(outgoing, Body(content)))
    }

    /// Takes back what this module has broadcast with `retain`: observers that begin later don't get
    /// it any more. `object` is what it was about; nil takes all broadcasts of this name.
    /// - Returns: How many broadcasts were taken back.
    @discardableResult
    public func forget<B: Broadcast>(_ type: B.Type, object: String? = nil) async throws -> Int {
        try await forget(B.name, object: object)
    }

    /// Takes back what this module has broadcast with `retain`, by name.
    @discardableResult
    public func forget(_ name: String, object: String? = nil) async throws -> Int {
        let params = [JSON.Member("name", .string(name))] + (object.map { [JSON.Member("object", .string($0))] } ?? [])
        return try count("forgotten", try await runtime.request(.call("bus/forget"), Body(.object(params))))
    }

    /// Sends a notification to one module of the same or an earlier level, and waits until its
    /// observers have handled it.
    ///
    /// With a `key`, reports to a row with replicas go to the same one of them. Each observer gets
    /// copies of the `descriptors`, at most 16, in `Delivery.descriptors`.
    /// - Returns: The number of observers.
    /// - Throws: Also the first error that an observer throws.
    @discardableResult
    public func report<R: Report>(
        _ report: R, to module: String, descriptors: [Descriptor] = [], deadline: Duration? = nil, key: String? = nil,
        meta: JSON? = nil
    ) async throws -> Int {
        var outgoing = try Outgoing(
            .report, to: module, name: R.name, object: report.object, deadline: deadline
        ).with(key: key, meta: meta)
        if !descriptors.isEmpty { outgoing = try runtime.with(descriptors, outgoing) }
        return try count("observers", try await runtime.request(outgoing, try encode(report, for: outgoing)))
    }

    /// Reports a notification by name, without a contract.
    @discardableResult
    public func report(
        _ name: String, _ content: JSON = nil, object: String? = nil, to module: String,
        descriptors: [Descriptor] = [], deadline: Duration? = nil, key: String? = nil, meta: JSON? = nil
    ) async throws -> Int {
        var outgoing = try Outgoing(
            .report, to: module, name: name, object: object, deadline: deadline
        ).with(key: key, meta: meta)
        if !descriptors.isEmpty { outgoing = try runtime.with(descriptors, outgoing) }
        return try count("observers", try await runtime.request(outgoing, Body(content)))
    }

    private func count(_ what: String, _ reply: [UInt8]) throws -> Int {
        Int(try Coding.json(reply)[what]?.integer ?? 0)
    }

    /// Emits an event to every module that takes it.
    /// - Parameters:
    ///   - event: The event's name.
    ///   - params: The parameters to send.
    ///   - policy: How the modules are asked, and how their answers are combined.
    ///   - deadline: The time that each module has for its answer; 5 s by default.
    @discardableResult
    public func emit(
        _ event: String, _ params: JSON = nil, policy: EventPolicy = .notify, deadline: Duration? = nil
    ) async throws -> EventAnswer {
        var outgoing = Outgoing.call("bus/emit", deadline: deadline)
        outgoing.name = event
        outgoing.extras.meta = (["policy": .string(policy.rawValue)] as JSON).encoded()
        return EventAnswer(try Coding.json(try await runtime.request(outgoing, Body(params))))
    }

    // MARK: Observing at run time

    /// Observes a notification until `Observation.end` is called or the process ends. The
    /// observation survives a lost connection. With `share`, one replica of the module's row gets each
    /// broadcast; without replicas it means nothing.
    @discardableResult
    public func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all, share: Bool = false,
        perform: @escaping @ModuleActor (N) async throws -> Void
    ) async throws -> Observation {
        try await observe(N.name, object: object, keep: keep, share: share) { try await perform($0.decode(N.self)) }
    }

    /// Observes a notification by name or pattern, without a contract; see `Exports.observe`.
    @discardableResult
    public func observe(
        _ name: String, object: String? = nil, keep: Keep = .all, share: Bool = false,
        perform: @escaping @ModuleActor (Delivery) async throws -> Void
    ) async throws -> Observation {
        let observing = Observing(name, object: object, keep: keep, share: share, handle: perform)
        try await runtime.observe(observing)
        return Observation(observing, runtime)
    }
}

/// How the modules that take an event are asked, and how their answers are combined.
public enum EventPolicy: String, Sendable {
    /// All modules are notified at once; the answer is true.
    case notify
    /// All modules are asked at once; the answer is true if each one said true.
    case all
    /// The modules are asked one after another, until one says true.
    case any
}

/// The result of an event.
public struct EventAnswer: Sendable {
    /// The part of one module.
    public struct Part: Sendable {
        /// The module's name.
        public let module: String
        /// The module's answer; nil if it failed.
        public let answer: JSON?
        /// The error code if the module failed; nil otherwise.
        public let code: ErrorCode?
    }

    /// The combined answer, by the event's policy.
    public let answer: Bool
    /// The part of each module, in start order.
    public let parts: [Part]

    init(_ json: JSON) {
        answer = json["answer"]?.bool ?? false
        parts = (json["answers"]?.array ?? []).map {
            Part(
                module: $0["module"]?.string ?? "", answer: $0["answer"], code: $0["code"]?.string.map { ErrorCode($0) }
            )
        }
    }
}

/// An observation that was begun at run time.
@ModuleActor
public final class Observation {
    private let observing: Observing
    private let runtime: ModuleRuntime

    init(_ observing: Observing, _ runtime: ModuleRuntime) {
        self.observing = observing
        self.runtime = runtime
    }

    /// Ends the observation. No notification arrives after this has returned.
    public func end() async throws { try await runtime.unobserve(observing) }
}
