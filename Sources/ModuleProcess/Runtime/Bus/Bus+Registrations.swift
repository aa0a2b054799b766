internal import StrataCore

extension Bus {
    /// The most registrations that can exist at once.
    public static let mostRegistrations = 1_024

    /// Offers interfaces, actions and URLs until `Registration.end` is called or the process ends.
    /// The offer survives a lost connection: the next hello repeats it.
    ///
    /// If the module already offers an interface, the new actions are added to it. An action or a
    /// URL that the module already offers is replaced until this registration ends. The broker
    /// accepts the whole offer or none of it.
    /// - Parameter offer: Fills in the offer as `Module.register` does, with interfaces, instances,
    ///   actions and URLs only.
    /// - Throws: `name-taken` and `forbidden` if another module has the name, `overloaded` beyond
    ///   the manifest's limits, `bad-params` for something that can't be offered later. If it
    ///   throws, nothing is offered.
    @discardableResult
    public func register(_ offer: @ModuleActor (inout Exports) throws -> Void) async throws -> Registration {
        var exports = Exports()
        try offer(&exports)
        let registered = Registered(exports)
        try await runtime.register(registered)
        return Registration(registered, runtime)
    }
}

/// An offer that was made at run time.
@ModuleActor
public final class Registration {
    private let registered: Registered
    private let runtime: ModuleRuntime

    init(_ registered: Registered, _ runtime: ModuleRuntime) {
        self.registered = registered
        self.runtime = runtime
    }

    /// Withdraws the offer; what it had replaced is offered again. A second call does nothing.
    public func end() async throws { try await runtime.unregister(registered) }
}
