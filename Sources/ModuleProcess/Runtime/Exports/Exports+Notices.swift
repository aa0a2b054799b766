public import StrataCore

extension Exports {
    /// Observes a broadcast or a report.
    ///
    /// Handlers start in the order in which their notices arrive. After its first `await`, a
    /// handler may be overtaken by later ones.
    /// - Parameters:
    ///   - type: The notification's contract.
    ///   - object: The object that notices must be about; nil for every notice.
    ///   - keep: Whether all notices are kept for a slow observer, or only the latest.
    ///   - perform: Handles a notice. An error that it throws is sent to the sender of a report,
    ///     and logged for a broadcast.
    public mutating func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (N) async throws -> Void
    ) {
        add(Observing(N.name, of: N.self, object: object, keep: keep) { try await perform($0.decode(N.self)) })
    }

    /// Observes a notification with a handler that also receives the `Delivery`.
    public mutating func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (N, Delivery) async throws -> Void
    ) {
        add(Observing(N.name, of: N.self, object: object, keep: keep) { try await perform($0.decode(N.self), $0) })
    }

    /// Observes a notification by name, without a contract.
    public mutating func observe(
        _ name: String, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (Delivery) async throws -> Void
    ) {
        add(Observing(name, object: object, keep: keep, handle: perform))
    }

    /// Takes an event, for example one of the app's own: `app.reload`, `app.memoryPressure`,
    /// `app.suspend`, `app.resume`, `app.terminate`, `app.moduleLost`. If the emitter asks for an
    /// answer, it is true.
    public mutating func event(_ name: String, perform: @escaping @ModuleActor (Call) async throws -> Void) {
        event(asking: name) { event in
            try await perform(event)
            return true
        }
    }

    /// Takes an event and answers it. The answer counts under the policies `all` and `any`.
    public mutating func event(asking name: String, perform: @escaping @ModuleActor (Call) async throws -> Bool) {
        add(event: name) { call, header, body in
            let event = Call(header, body, call)
            call.run { call in call.reply(JSON.bool(try await perform(event)).encoded()) }
        }
    }
}

extension Exports {
    /// Exports an action that replies with a sequence. Each element is sent as soon as the caller
    /// has given credit for it; at most one element is made ahead.
    ///
    /// The sequence's task is cancelled if the caller gives up.
    public mutating func stream<A: StreamingAction, Elements: AsyncSequence>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Elements
    ) where Elements.Element == A.Element {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            call.stream(A.self, header, body, perform)
        }
    }

    /// Exports a stream without a contract.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func stream<Elements: AsyncSequence>(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> Elements
    ) where Elements.Element == JSON {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in try await call.send(try await perform(request)) { $0.encoded() } }
        }
    }
}

extension IncomingCall {
    /// Decodes typed parameters at once, and answers with the sequence that a handler makes from
    /// them.
    func stream<A: StreamingAction, Elements: AsyncSequence>(
        _ type: A.Type, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        _ perform: @escaping @ModuleActor (A) async throws -> Elements
    ) where Elements.Element == A.Element {
        let request: A
        do { request = try params(A.self, header, body) } catch {
            fail(error)
            return
        }
        run { call in try await call.send(try await perform(request)) { try Coding.encode($0) } }
    }

    /// Sends each element of a sequence as a partial reply, and the final reply at its end.
    func send<Elements: AsyncSequence>(
        _ elements: Elements, encode: @ModuleActor (Elements.Element) throws -> [UInt8]
    ) async throws {
        var iterator = elements.makeAsyncIterator()
        // Fetch the next element before there is credit for it: the end needs no credit, so it can
        // be sent without waiting.
        while let element = try await iterator.next(isolation: ModuleActor.shared) {
            try await waitForCredit()
            try encode(element).withUnsafeBytes { try send(partial: $0) }
        }
        // A sequence that stops because its task is cancelled has not reached its end.
        try Task.checkCancellation()
        reply()
    }
}
