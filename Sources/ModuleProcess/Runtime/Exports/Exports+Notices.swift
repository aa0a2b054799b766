extension Exports {
    /// Observes a broadcast or a report.
    ///
    /// Handlers start in the order in which their notices arrive. After its first `await`, a
    /// handler may be overtaken by later ones.
    /// - Parameters:
    ///   - type: The notification's contract.
    ///   - object: The object that notices must be about; nil for every notice.
    ///   - keep: Whether all notices are kept for a slow observer, or only the latest.
    ///   - share: Whether one replica of the module's row gets each broadcast, instead of all. Without
    ///     replicas it means nothing.
    ///   - perform: Handles a notice. An error that it throws is sent to the sender of a report,
    ///     and logged for a broadcast.
    public mutating func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all, share: Bool = false,
        perform: @escaping @ModuleActor (N) async throws -> Void
    ) {
        add(
            Observing(N.name, of: N.self, object: object, keep: keep, share: share) {
                try await perform($0.decode(N.self))
            })
    }

    /// Observes a notification with a handler that also receives the `Delivery`.
    public mutating func observe<N: Notice>(
        _ type: N.Type, object: String? = nil, keep: Keep = .all, share: Bool = false,
        perform: @escaping @ModuleActor (N, Delivery) async throws -> Void
    ) {
        add(
            Observing(N.name, of: N.self, object: object, keep: keep, share: share) {
                try await perform($0.decode(N.self), $0)
            })
    }

    /// Observes a notification by name, or all whose names match a pattern, without a contract.
    ///
    /// A segment `*` makes the name a pattern and stands for any one segment; a last segment `>` stands
    /// for one or more: `storage.*`, `storage.>`. `Delivery.name` says which it was.
    public mutating func observe(
        _ name: String, object: String? = nil, keep: Keep = .all, share: Bool = false,
        perform: @escaping @ModuleActor (Delivery) async throws -> Void
    ) {
        add(Observing(name, object: object, keep: keep, share: share, handle: perform))
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
