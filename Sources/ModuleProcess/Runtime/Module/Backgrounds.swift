internal import StrataCore

/// The module's work that no handler waits for.
@ModuleActor
final class Backgrounds {
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var nextKey: UInt64 = 0

    init() {}

    func start(_ name: String, _ work: @escaping @ModuleActor () async throws -> Void) throws(BusError)
        -> Task<Void, Never>
    {
        guard tasks.count < Bus.mostBackgrounds else {
            throw BusError(
                .overloaded,
                "\(tasks.count) background tasks of this module run, its limit, and \(name) would be one more: "
                    + "wait for some of them")
        }
        let key = nextKey
        nextKey += 1
        let task = task(key, name, work)
        tasks[key] = task
        return task
    }

    private func task(
        _ key: UInt64, _ name: String, _ work: @escaping @ModuleActor () async throws -> Void
    ) -> Task<Void, Never> {
        // Immediate, since the compiler can't check the closure of another
        // kind of task; what starts it goes on first nevertheless.
        Task.immediateDetached(executorPreference: ModuleExecutor.shared) { @ModuleActor in
            await Task.yield()
            await self.run(name, work)
            self.tasks[key] = nil
        }
    }

    private func run(_ name: String, _ work: @ModuleActor () async throws -> Void) async {
        let scope = CallScope(name: name, parent: nil, deadline: nil, trace: [])
        scope.resumed()
        do {
            try await CallScope.$current.withValue(scope) { try await work() }
        } catch is CancellationError {
        } catch let error as BusError where error.code == .cancelled {
        } catch {
            ModuleLog.logger.error("\(name) failed: \(error)")
        }
    }

    func cancelAll() {
        for task in tasks.values { task.cancel() }
    }
}
