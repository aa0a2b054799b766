public import StrataCore

extension Bus {
    /// Tells every observer in a later level; never waits.
    /// - Parameters:
    ///   - broadcast: what is told.
    ///   - meta: an object that observers find in `Delivery.meta`, as `call`
    ///     takes it.
    /// - Throws: `unavailable` without a connection, `overloaded` where too much
    ///   is unsent.
    public func broadcast<B: Broadcast>(_ broadcast: B, meta: JSON? = nil) throws {
        let outgoing = try Outgoing(kind: .broadcast, name: B.name, object: broadcast.object).with(meta: meta)
        try runtime.send(outgoing, try encode(broadcast, for: outgoing))
    }

    /// Broadcasts a name without a contract.
    public func broadcast(_ name: String, _ content: JSON = nil, object: String? = nil, meta: JSON? = nil) throws {
        let outgoing = try Outgoing(kind: .broadcast, name: name, object: object).with(meta: meta)
        try runtime.send(outgoing, Body(content))
    }

    /// Tells one module of the same or an earlier level, and waits until its
    /// observers have dealt with it.
    /// - Returns: how many observers there were.
    /// - Throws: the first observer's error, too.
    @discardableResult
    public func report<R: Report>(
        _ report: R, to module: String, deadline: Duration? = nil, meta: JSON? = nil
    ) async throws -> Int {
        let outgoing = try Outgoing(
            kind: .report, to: module, name: R.name, object: report.object, deadline: deadline?.wireMilliseconds
        ).with(meta: meta)
        return try observers(try await runtime.request(outgoing, try encode(report, for: outgoing)))
    }

    /// Reports a name without a contract.
    @discardableResult
    public func report(
        _ name: String, _ content: JSON = nil, object: String? = nil, to module: String, deadline: Duration? = nil,
        meta: JSON? = nil
    ) async throws -> Int {
        let outgoing = try Outgoing(
            kind: .report, to: module, name: name, object: object, deadline: deadline?.wireMilliseconds
        ).with(meta: meta)
        return try observers(
            try await runtime.request(outgoing, Body(content)))
    }

    private func observers(_ reply: [UInt8]) throws -> Int {
        Int(try Coding.json(reply)["observers"]?.integer ?? 0)
    }

    /// Emits an event to every module that takes it.
    /// - Parameters:
    ///   - event: its name.
    ///   - params: what is sent.
    ///   - policy: who is asked, and in which order.
    ///   - deadline: what each may take for its answer; 5 s where it isn't
    ///     said.
    @discardableResult
    public func emit(
        _ event: String, _ params: JSON = nil, policy: EventPolicy = .notify, deadline: Duration? = nil
    ) async throws -> EventAnswer {
        var outgoing = Outgoing.call("bus/emit", deadline: deadline)
        outgoing.name = event
        outgoing.meta = (["policy": .string(policy.rawValue)] as JSON).encoded()
        return EventAnswer(try Coding.json(try await runtime.request(outgoing, Body(params))))
    }

    // MARK: Observing at run time

    /// Observes from now on, until `Observation.end` or the process's end; also
    /// across a lost connection.
    @discardableResult
    public func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (N) async throws -> Void
    ) async throws -> Observation {
        try await observe(N.name, object: object, keep: keep) { try await perform($0.decode(N.self)) }
    }

    /// Observes a name without a contract.
    @discardableResult
    public func observe(
        _ name: String, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (Delivery) async throws -> Void
    ) async throws -> Observation {
        let observing = Observing(name, object: object, keep: keep, handle: perform)
        try await runtime.observe(observing)
        return Observation(observing, runtime)
    }
}

/// Whose answers count how.
public enum EventPolicy: String, Sendable {
    /// All are told at once; the answer is true.
    case notify
    /// All are asked at once; the answer is true where each said true.
    case all
    /// One is asked after another, until one says true.
    case any
}

/// What came of an event.
public struct EventAnswer: Sendable {
    /// One module's part.
    public struct Part: Sendable {
        /// Whose it is.
        public let module: String
        /// What it said; nil where it failed.
        public let answer: JSON?
        /// Why it said nothing.
        public let code: ErrorCode?
    }

    /// What the policy makes of all of them.
    public let answer: Bool
    /// Each module's own, in the order of the start.
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

    /// Ends it. No notice comes after this has returned.
    public func end() async throws { try await runtime.unobserve(observing) }
}
