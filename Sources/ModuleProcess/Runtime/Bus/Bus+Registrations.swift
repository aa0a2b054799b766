internal import StrataCore

extension Bus {
    /// How many registrations last at once.
    public static let mostRegistrations = 1_024

    /// Offers interfaces, actions and URLs from now on, until
    /// `Registration.end` or the process's end; also across a lost connection,
    /// whose next hello has them.
    ///
    /// Actions of an interface that the module offers already join those; an
    /// action or a URL that is offered again replaces the former until this
    /// registration ends. The broker takes all of it or nothing.
    /// - Parameter offer: filled in as `Module.register` does, with interfaces,
    ///   instances, actions and URLs only.
    /// - Throws: `name-taken` and `forbidden` where another module has it,
    ///   `overloaded` beyond the manifest's limits, `bad-params` for what can't
    ///   be offered later. Then nothing is offered.
    @discardableResult
    public func register(_ offer: @ModuleActor (inout Exports) throws -> Void) async throws -> Registration {
        var exports = Exports()
        try offer(&exports)
        let registered = Registered(exports)
        try await runtime.register(registered)
        return Registration(registered, runtime)
    }
}

/// What was offered at run time.
@ModuleActor
public final class Registration {
    private let registered: Registered
    private let runtime: ModuleRuntime

    init(_ registered: Registered, _ runtime: ModuleRuntime) {
        self.registered = registered
        self.runtime = runtime
    }

    /// Takes it back; what it had replaced is offered again. The second time
    /// does nothing.
    public func end() async throws { try await runtime.unregister(registered) }
}
