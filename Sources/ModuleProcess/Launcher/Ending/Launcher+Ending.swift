import Glibc
import StrataCore
import StrataLoop

/// The end of an app: performs what `AppMachine` decides.
extension Launcher {
    /// Handles an order from outside. A second order kills everything at once.
    public func ordered(_ by: String) { change { $0.ordered(by, at: loop.now) } }

    /// Ends the app, with the modules in reverse start order.
    public func end(_ ending: Ending) { change { $0.ended(ending, at: loop.now) } }

    /// A module has no process any more, so the next modules may be stopped.
    func supervisorSettled() {
        change { $0.nextStop(at: loop.now) { supervisor($0)?.machine.pid != nil } }
    }

    func brokerStopped() {
        loop.updateTime()
        change { $0.brokerEnded(at: loop.now) }
    }

    /// Applies an event to the app's state, and performs the actions that follow.
    func change(_ event: (inout AppMachine) -> [AppMachine.Action]) {
        for action in event(&app) { perform(action) }
        armTimer()
    }

    private func perform(_ action: AppMachine.Action) {
        switch action {
        case .note(let text): console.say(text)
        case .announce(let ending, let time):
            settings.manager.tell(.stopping, .status("the app ends: \(ending.message)"))
            let events = events
            self.events = nil
            events?.emit("terminate", ["reason": .string(ending.message)], within: time) { [weak self] in
                self?.change { $0.announced() }
            }
            events?.close()
        case .orderStops(let since):
            let running = supervisors.filter { !$0.machine.isAtRest }
            app.modulesEnd(StopOrder(settings.manifest.table, running: Set(running.map(\.name)), at: since))
            supervisorSettled()
        case .stop(let name, let times):
            supervisor(name)?.change { $0.stop(at: loop.now, reason: "the app ends", within: times) }
            supervisorSettled()
        case .takeLeave(let ending):
            // Kills modules that are left: those that a reload removed, or that were started
            // meanwhile.
            killModules()
            endReaders(ending)
            // Messages on one connection are read in order. If the broker were told to end before
            // it has read the last ones, it would end without them.
            link.call("ping") { [weak self] _ in self?.change { $0.leaveTaken() } }
        case .endReaders(let ending): endReaders(ending)
        case .closeBus: link.close()
        case .endBroker:
            // The link ends first, because it tells the broker what it has sent.
            guard let linkKeeper else { return endPage() }
            linkKeeper.stop { [unowned self] in self.endPage() }
        case .killAll:
            linkKeeper?.kill()
            webKeeper?.kill()
            keeper?.kill()
            killModules()
        case .removeSocket:
            if keeper != nil, settings.passedSocket == nil, SocketAddress.occupant(settings.socket) == .dead {
                unlink(settings.socket)
            }
        case .sweep:
            let left = settings.ownsProcess ? ProcessFiles.killChildren(except: isKnown) : []
            change { $0.swept(left, at: loop.now) }
        case .finish(let ending):
            closeAll()
            onEnd(ending)
        }
    }

    private func endPage() {
        guard let webKeeper else { return endBroker() }
        webKeeper.stop { [unowned self] in self.endBroker() }
    }

    private func endBroker() {
        guard let keeper else { return brokerStopped() }
        keeper.stop()
    }

    private func killModules() {
        for supervisor in supervisors { supervisor.killAll(reason: "the app ends") }
    }

    // MARK: Adopted processes

    /// Reaps descendants whose parents died: they have become this process's children.
    func reapAdopted() {
        for pid in ProcessFiles.children() where !isKnown(pid) { ProcessFiles.reap(pid) }
        change { $0.childEnded() }
    }

    /// Whether the launcher started the process itself; libuv waits for those.
    private func isKnown(_ pid: Int32) -> Bool {
        [keeper?.pid, linkKeeper?.pid, webKeeper?.pid].contains(pid)
            || supervisors.contains { $0.all.contains { $0.pid == pid } }
    }
}

/// The order in which an app's modules end, the reverse of the start's, and the time that each may
/// take.
///
/// All groups together have `budget`. A group gets an equal share of the time that is left: half
/// for tearDown, and half from SIGTERM to SIGKILL, but never more than its rows' `stop`. Unused
/// time goes to the later groups. So the end of an app takes a limited time, even if many modules
/// hang.
struct StopOrder {
    /// The time for all modules, in milliseconds from the beginning of the app's end.
    static let budget: UInt64 = 7_500

    private var groups: [[String]]
    private let stop: [String: UInt64]
    private let end: UInt64

    /// Creates the order for the given modules.
    /// - Parameters:
    ///   - running: The modules that have a process or wait for one.
    ///   - now: When the app's end began.
    init(_ table: AppTable, running: Set<String>, at now: UInt64) {
        let rows = table.modules.filter { running.contains($0.name) }
        let places = Set(rows.map { Place(rank: $0.rank, priority: $0.priority) })
        groups = places.sorted().map { place in
            rows.filter { $0.rank == place.rank && $0.priority == place.priority }.map(\.name)
        }
        stop = Dictionary(rows.map { ($0.name, $0.stop) }, uniquingKeysWith: { first, _ in first })
        end = now + Self.budget
    }

    /// Returns the modules to stop next, and the time that each may take; nil at the end.
    mutating func next(at now: UInt64) -> [(name: String, times: ModuleMachine.StopTimes)]? {
        guard !groups.isEmpty else { return nil }
        let share = (end > now ? end - now : 0) / UInt64(groups.count)
        return groups.removeFirst().map { name in
            let each = min(stop[name] ?? 0, share / 2)
            return (name, ModuleMachine.StopTimes(tearDown: each, terminate: each))
        }
    }

    /// Sorts later levels first, and lower priorities first within a level.
    private struct Place: Hashable, Comparable {
        var rank: Int
        var priority: Int
        static func < (one: Place, other: Place) -> Bool {
            one.rank != other.rank ? one.rank > other.rank : one.priority < other.priority
        }
    }
}
