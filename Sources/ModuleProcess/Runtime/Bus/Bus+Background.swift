internal import StrataCore

extension Bus {
    /// What becomes of the module where its background work throws. Work that is cancelled,
    /// as all is at `tearDown`, hasn't failed, whatever it throws.
    public enum FailurePolicy: Sendable {
        /// The module tears down, and its process ends with an error that names the work:
        /// what the launcher does then is its row's `restart`.
        case endModule
        /// The failure is logged, and the work begins again after a pause, as often as it
        /// fails. A pause under 100 ms counts as 100 ms.
        case retry(after: Duration)
        /// The failure is logged, and the module goes on without this work.
        case log
    }

    /// Starts work that outlives the handler it is started in: it belongs to no
    /// call and has no deadline. It is cancelled at the module's `tearDown`.
    ///
    /// A notification fails with `unavailable` while the bus is away: work that sends
    /// some, and is to outlive a broker's end, catches that or is retried.
    /// - Parameters:
    ///   - name: what logs, and the reason of the module's end, call it.
    ///   - onFailure: what follows where it throws.
    ///   - work: what is run.
    /// - Throws: `overloaded` where `Bus.mostBackgrounds` run already.
    @discardableResult
    public func background(
        _ name: String? = nil, onFailure: FailurePolicy = .endModule,
        _ work: @escaping @ModuleActor () async throws -> Void
    ) throws -> Task<Void, Never> {
        try runtime.backgrounds.start(name.map { "background work \"\($0)\"" } ?? "background work", onFailure, work)
    }
}
