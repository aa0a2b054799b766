internal import StrataCore

extension Bus {
    /// Starts work that outlives the handler it is started in: it belongs to no
    /// call and has no deadline. It is cancelled at the module's `tearDown`,
    /// and what it throws is logged.
    /// - Parameters:
    ///   - name: what logs call it.
    ///   - work: what is run.
    /// - Throws: `overloaded` where `Bus.mostBackgrounds` run already.
    @discardableResult
    public func background(
        _ name: String = "background work", _ work: @escaping @ModuleActor () async throws -> Void
    ) throws -> Task<Void, Never> {
        try runtime.backgrounds.start(name, work)
    }
}
