internal import StrataCore

extension Bus {
    /// What happens when background work throws.
    ///
    /// Cancelled work has not failed, whatever it throws. `tearDown` cancels all background work.
    public enum FailurePolicy: Sendable {
        /// The module tears down, and its process ends with an error that names the work. The
        /// `restart` of the module's row decides what the launcher does next.
        case endModule
        /// The failure is logged, and the work starts again after a pause, each time it fails. A
        /// pause under 100 ms counts as 100 ms.
        case retry(after: Duration)
        /// The failure is logged, and the module continues without this work.
        case log
    }

    /// Starts work that outlives the handler that starts it. The work belongs to no call and has no
    /// deadline. The module's `tearDown` cancels it.
    ///
    /// A notification fails with `unavailable` while the module is not connected to the bus. If the
    /// work sends notifications and must survive a broker's end, catch that error or use `.retry`.
    /// - Parameters:
    ///   - name: The name of the work in logs, and in the error if it ends the module.
    ///   - onFailure: What happens when the work throws.
    ///   - work: The work to run.
    /// - Throws: `overloaded` if `Bus.mostBackgrounds` tasks already run.
    @discardableResult
    public func background(
        _ name: String? = nil, onFailure: FailurePolicy = .endModule,
        _ work: @escaping @ModuleActor () async throws -> Void
    ) throws -> Task<Void, Never> {
        try runtime.backgrounds.start(name.map { "background work \"\($0)\"" } ?? "background work", onFailure, work)
    }
}
