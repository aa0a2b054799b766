internal import StrataCore

/// The module's background work, which no handler waits for.
@ModuleActor
final class Backgrounds {
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var nextKey: UInt64 = 0
    /// Called with the work's name and its error when work fails that the module can't do without.
    var onFatalFailure: (String) -> Void = { _ in }

    private static let shortestPause: Duration = .milliseconds(100)

    private let surroundings: any Surroundings

    init(_ surroundings: any Surroundings) { self.surroundings = surroundings }

    func start(
        _ name: String, _ onFailure: Bus.FailurePolicy, _ work: @escaping @ModuleActor () async throws -> Void
    ) throws(BusError) -> Task<Void, Never> {
        guard tasks.count < Bus.mostBackgrounds else {
            throw BusError(
                .overloaded,
                "\(tasks.count) background tasks of this module are running, its limit, and \(name) would be one "
                    + "more: wait for some to end")
        }
        let key = nextKey
        nextKey += 1
        let task = task(key, name, onFailure, work)
        tasks[key] = task
        return task
    }

    private func task(
        _ key: UInt64, _ name: String, _ onFailure: Bus.FailurePolicy,
        _ work: @escaping @ModuleActor () async throws -> Void
    ) -> Task<Void, Never> {
        // An immediate task, because the compiler can't check the closure of another kind. It
        // yields first, so that its starter continues before it.
        Task.immediateDetached(executorPreference: ModuleExecutor.shared) { @ModuleActor in
            await Task.yield()
            await self.run(name, onFailure, work)
            self.tasks[key] = nil
        }
    }

    private func run(
        _ name: String, _ onFailure: Bus.FailurePolicy, _ work: @ModuleActor () async throws -> Void
    ) async {
        let scope = CallScope(name: name, in: surroundings)
        scope.begin()
        await withTaskCancellationHandler {
            await CallScope.$current.withValue(scope) { await repeatedly(name, onFailure, work) }
        } onCancel: {
            onModuleActor { scope.cancelAwaited() }
        }
        scope.end()
    }

    private func repeatedly(
        _ name: String, _ onFailure: Bus.FailurePolicy, _ work: @ModuleActor () async throws -> Void
    ) async {
        while let error = await failure(of: work) {
            let what = "\(name) failed: \(error)"
            switch onFailure {
            case .endModule: onFatalFailure(what)
            case .log: ModuleLog.logger.error("\(what)")
            case .retry(let pause):
                let pause = max(pause, Self.shortestPause)
                ModuleLog.logger.error("\(what); it begins again in \(pause)")
                do { try await sleep(milliseconds: Int(pause.wireMilliseconds)) } catch { return }
                continue
            }
            return
        }
    }

    /// Runs the work and returns its error. Nil also if the work was cancelled: an error is then
    /// just how it ends.
    private func failure(of work: @ModuleActor () async throws -> Void) async -> (any Error)? {
        do {
            try await work()
            return nil
        } catch {
            return Task.isCancelled ? nil : error
        }
    }

    func cancelAll() {
        for task in tasks.values { task.cancel() }
    }
}
