internal import StrataCore

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
