import Glibc
import StrataCore
import StrataLoop

/// The end of an app: what `AppMachine` decides is performed here.
extension Launcher {
    /// An order from outside; the second one takes no more time.
    public func ordered(_ by: String) { change { $0.ordered(by, at: loop.now) } }

    /// Ends all in reverse order.
    public func end(_ ending: Ending) { change { $0.ended(ending, at: loop.now) } }

    /// A module has no process any more: perhaps its group has ended.
    func supervisorSettled() {
        change { $0.nextStop(at: loop.now) { supervisor($0)?.machine.pid != nil } }
    }

    func brokerStopped() {
        loop.updateTime()
        change { $0.brokerEnded(at: loop.now) }
    }

    /// Lets an event happen to the app, and does what follows from it.
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
            // A row that a reload took out, or one started meanwhile.
            killModules()
            endReaders(ending)
            // What comes over one connection is read in its order: a broker that is told
            // to end before it has read the last words ends without them.
            link.call("ping") { [weak self] _ in self?.change { $0.leaveTaken() } }
        case .endReaders(let ending): endReaders(ending)
        case .closeBus: link.close()
        case .endBroker:
            guard let keeper else { return brokerStopped() }
            keeper.stop()
        case .killAll:
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

    private func killModules() {
        for supervisor in supervisors { supervisor.killAll(reason: "the app ends") }
    }

    // MARK: Adopted processes

    /// Descendants whose parents died became this process's children; they are
    /// waited for as they end.
    func reapAdopted() {
        for pid in ProcessFiles.children() where !isKnown(pid) { ProcessFiles.reap(pid) }
        change { $0.childEnded() }
    }

    /// Whether somebody here waits for it: those libuv waits for.
    private func isKnown(_ pid: Int32) -> Bool {
        keeper?.pid == pid || supervisors.contains { $0.all.contains { $0.pid == pid } }
    }
}

/// The order in which an app's modules end, the reverse of the start's, and the
/// time that each may take.
///
/// All groups together have `budget`: a group gets an equal share of what is
/// left, half of it for tearDown and half from SIGTERM to SIGKILL, and never
/// more than its rows' `stop`; what it doesn't use is for those after it. So the
/// end of an app has a bound, however many modules hang.
struct StopOrder {
    /// For all modules, in milliseconds from the beginning of the app's end.
    static let budget: UInt64 = 7_500

    private var groups: [[String]]
    private let stop: [String: UInt64]
    private let end: UInt64

    /// - Parameters:
    ///   - running: the modules that have a process or wait for one.
    ///   - now: when the app's end began.
    init(_ table: AppTable, running: Set<String>, at now: UInt64) {
        let rows = table.modules.filter { running.contains($0.name) }
        let places = Set(rows.map { Place(rank: $0.rank, priority: $0.priority) })
        groups = places.sorted().map { place in
            rows.filter { $0.rank == place.rank && $0.priority == place.priority }.map(\.name)
        }
        stop = Dictionary(rows.map { ($0.name, $0.stop) }, uniquingKeysWith: { first, _ in first })
        end = now + Self.budget
    }

    /// What stops next, and how long each module may take; nil at the end.
    mutating func next(at now: UInt64) -> [(name: String, times: ModuleMachine.StopTimes)]? {
        guard !groups.isEmpty else { return nil }
        let share = (end > now ? end - now : 0) / UInt64(groups.count)
        return groups.removeFirst().map { name in
            let each = min(stop[name] ?? 0, share / 2)
            return (name, ModuleMachine.StopTimes(tearDown: each, terminate: each))
        }
    }

    /// Later levels first, and there the lower priority.
    private struct Place: Hashable, Comparable {
        var rank: Int
        var priority: Int
        static func < (one: Place, other: Place) -> Bool {
            one.rank != other.rank ? one.rank > other.rank : one.priority < other.priority
        }
    }
}
