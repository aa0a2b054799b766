public import StrataCore

extension Exports {
    /// Observes a broadcast or a report. Handlers of several notices run in the
    /// order of their arrival up to their first `await`; from there on others
    /// may pass them.
    /// - Parameters:
    ///   - type: its contract.
    ///   - object: only those about this.
    ///   - keep: whether all are wanted, or the latest only.
    ///   - perform: what it throws a report's sender is told; of a broadcast it
    ///     is logged.
    public mutating func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (N) async throws -> Void
    ) {
        add(Observing(N.name, object: object, keep: keep) { try await perform($0.decode(N.self)) })
    }

    /// Observes, with what there is to know beside the content.
    public mutating func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (N, Delivery) async throws -> Void
    ) {
        add(Observing(N.name, object: object, keep: keep) { try await perform($0.decode(N.self), $0) })
    }

    /// Observes a name without a contract.
    public mutating func observe(
        _ name: String, object: String? = nil, keep: Keep = .all,
        perform: @escaping @ModuleActor (Delivery) async throws -> Void
    ) {
        add(Observing(name, object: object, keep: keep, handle: perform))
    }

    /// Takes an event that somebody emits, the app itself for instance
    /// (`app.reload`, `app.memoryPressure`, `app.suspend`, `app.resume`,
    /// `app.terminate`, `app.moduleLost`). Where it was a question, the answer
    /// is true.
    public mutating func event(_ name: String, perform: @escaping @ModuleActor (Call) async throws -> Void) {
        event(asking: name) { event in
            try await perform(event)
            return true
        }
    }

    /// Takes an event whose emitter asks: the answer counts under the policies
    /// `all` and `any`.
    public mutating func event(asking name: String, perform: @escaping @ModuleActor (Call) async throws -> Bool) {
        add(event: name) { call, header, body in
            let event = Call(header, body, call)
            call.run { call in call.reply(JSON.bool(try await perform(event)).encoded()) }
        }
    }
}

extension Exports {
    /// Exports an action that answers with a sequence: each element is sent as
    /// soon as the caller takes one more, and at most one is made before.
    ///
    /// The sequence's task is cancelled where the caller gives up.
    public mutating func stream<A: StreamingAction, Elements: AsyncSequence>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Elements
    ) where Elements.Element == A.Element {
        add(A.name, auth: auth) { call, header, body in
            call.stream(A.self, header, body, perform)
        }
    }

    /// Exports a stream without a contract.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: whether the app's authorizer is asked.
    ///   - perform: what answers.
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
    /// Reads typed parameters at once, and answers with the sequence that a
    /// handler makes of them.
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

    /// Sends a sequence as partial replies, and the final one at its end.
    func send<Elements: AsyncSequence>(
        _ elements: Elements, encode: @ModuleActor (Elements.Element) throws -> [UInt8]
    ) async throws {
        var iterator = elements.makeAsyncIterator()
        // The next element is fetched before there is credit for it: the end,
        // which costs none, is told without waiting.
        while let element = try await iterator.next(isolation: ModuleActor.shared) {
            try await waitForCredit()
            try encode(element).withUnsafeBytes { try send(partial: $0) }
        }
        // A sequence that ends because its task is cancelled has not ended.
        try Task.checkCancellation()
        reply()
    }
}
