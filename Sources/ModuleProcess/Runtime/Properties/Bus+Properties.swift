internal import StrataCore

extension Bus {
    /// Reads a property of another module.
    /// - Parameters:
    ///   - property: The property's contract.
    ///   - deadline: As for a call.
    public func get<P: Property>(_ property: P.Type, deadline: Duration? = nil) async throws -> P.Value {
        let outgoing = Outgoing.call(P.name.onBus.get, deadline: deadline)
        let reply = try await runtime.request(outgoing, .none)
        do { return try Coding.value(P.Value.self, reply) } catch {
            let reason = (error as? DecodingError)?.sentence() ?? "\(error)"
            throw BusError(.failed, "the value of \(P.name) is not a \(P.Value.self): \(reason)", ran: .yes)
        }
    }

    /// Sets a property of another module. When it returns, observers have been told.
    /// - Parameters:
    ///   - property: The property's contract.
    ///   - value: What it is set to. An equal value changes nothing.
    ///   - deadline: As for a call.
    ///   - auth: As for a call.
    /// - Throws: Also the error with which the owner refuses the value.
    public func set<P: SettableProperty>(
        _ property: P.Type, to value: P.Value, deadline: Duration? = nil, auth: Authorization = .asked
    ) async throws {
        let outgoing = Outgoing.call(P.name.onBus.set, deadline: deadline, auth: auth)
        _ = try await runtime.request(outgoing, try encode(PropertySetting(value: value), for: outgoing))
    }

    /// Observes a property until `Observation.end` is called or the process ends: the handler gets its
    /// present value first, then each change. See `Exports.observe`.
    @discardableResult
    public func observe<P: Property>(
        _ property: P.Type, keep: Keep = .latest, perform: @escaping @ModuleActor (P.Value) async throws -> Void
    ) async throws -> Observation {
        let observing = Observing(property, keep, perform)
        try await runtime.observe(observing)
        return Observation(observing, runtime)
    }
}
