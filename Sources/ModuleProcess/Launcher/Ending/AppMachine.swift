import StrataCore

/// The state of an app from its start to its end: whether it runs, which step of its end it has
/// reached, and how long that step may take.
///
/// A value without I/O; `now` is in milliseconds. The launcher performs the actions.
///
/// The steps of the end have deadlines, in milliseconds since its beginning. Modules answer
/// `app.terminate` until 1,000, and end until 7,500 (`StopOrder.budget`). The broker then has 500
/// to read the last messages, and ends until 9,000. Remaining descendants are killed until 9,500.
/// After that the app is over, even if a process hangs.
struct AppMachine {
    typealias Ending = Launcher.Ending

    enum Action: Equatable {
        case note(String)
        /// Emit `app.terminate`; `announced` follows.
        case announce(Ending, within: UInt64)
        /// Call `modulesEnd` with a stop order for an end that began at that time.
        case orderStops(since: UInt64)
        /// Stop one module; `nextStop` follows.
        case stop(String, ModuleMachine.StopTimes)
        /// Send the last messages on the bus; `leaveTaken` follows when they have been read.
        case takeLeave(Ending)
        case endReaders(Ending)
        case closeBus
        /// `brokerEnded` follows.
        case endBroker
        /// Kill all known processes.
        case killAll
        case removeSocket
        /// Kill the children that are left; `swept` follows.
        case sweep
        case finish(Ending)
    }

    private enum Step {
        /// Modules are told that the app ends.
        case announcing
        /// Modules end, group by group. Has the current group, its modules that are still to be
        /// stopped, and the order of the remaining groups.
        case endingModules(group: Set<String>, queue: ArraySlice<Stop>, StopOrder)
        /// The broker reads the last messages.
        case leavingBus
        case endingBroker
        /// Remaining descendants are killed.
        case sweeping(since: UInt64)
    }
    private typealias Stop = (name: String, times: ModuleMachine.StopTimes)

    private enum State {
        case notStarted
        case running
        case ending(Step, Ending, since: UInt64)
        case over
    }

    private static let announcedBy: UInt64 = 1_000
    /// How long the broker may take to read the last messages.
    private static let leaveTaking: UInt64 = 500
    private static let brokerBy: UInt64 = 9_000
    /// When the launcher stops waiting for a broker that was killed.
    private static let killedBy: UInt64 = 9_300
    private static let sweptBy: UInt64 = 9_500
    /// How long descendants are killed at least, one generation after another, even if an
    /// overloaded machine used up the time before.
    private static let leastSweep: UInt64 = 500
    /// The pause between two checks for remaining descendants.
    private static let sweepPause: UInt64 = 5

    private var state = State.notStarted
    /// When `deadlinePassed` is to be called.
    private(set) var deadline: UInt64?

    var isRunning: Bool {
        if case .running = state { return true }
        return false
    }

    // MARK: Events

    mutating func started() {
        guard case .notStarted = state else { preconditionFailure("a launcher starts once") }
        state = .running
    }

    /// Handles an order from outside. A second order kills everything at once.
    mutating func ordered(_ by: String, at now: UInt64) -> [Action] {
        switch state {
        case .notStarted, .running: [.note("\(by): the app ends")] + ended(Ending(code: 0, message: by), at: now)
        case .ending: [.note("\(by) again: everything is killed")] + killed(at: now)
        case .over: []
        }
    }

    /// Begins the end of the app; only the first reason counts.
    mutating func ended(_ ending: Ending, at now: UInt64) -> [Action] {
        guard case .running = state else { return [] }
        state = .ending(.announcing, ending, since: now)
        deadline = now + Self.announcedBy
        return [.announce(ending, within: Self.announcedBy)]
    }

    /// The modules have answered `app.terminate`, or can't.
    func announced() -> [Action] {
        guard case .ending(.announcing, _, let since) = state else { return [] }
        return [.orderStops(since: since)]
    }

    /// Ends the running modules in the given order.
    mutating func modulesEnd(_ order: StopOrder) {
        guard case .ending(.announcing, let ending, let since) = state else { return }
        state = .ending(.endingModules(group: [], queue: [], order), ending, since: since)
        deadline = since + Self.brokerBy
    }

    /// Returns the next module to stop, after a module was stopped or has no process any more. Each
    /// call returns one, because stopping a module that only waited to start settles it at once,
    /// and calls this again.
    /// - Parameter hasProcess: Returns whether a module has a process.
    mutating func nextStop(at now: UInt64, hasProcess: (String) -> Bool) -> [Action] {
        guard case .ending(.endingModules(var group, var queue, var order), let ending, let since) = state else {
            return []
        }
        if queue.isEmpty {
            guard !group.contains(where: hasProcess) else { return [] }
            guard let next = order.next(at: now) else {
                state = .ending(.leavingBus, ending, since: since)
                deadline = now + Self.leaveTaking
                return [.takeLeave(ending)]
            }
            group = Set(next.map(\.name))
            queue = next[...]
        }
        let stop = queue.removeFirst()
        state = .ending(.endingModules(group: group, queue: queue, order), ending, since: since)
        return [.stop(stop.name, stop.times)]
    }

    /// The broker has read the last messages, or there is no broker.
    mutating func leaveTaken() -> [Action] {
        guard case .ending(.leavingBus, let ending, let since) = state else { return [] }
        state = .ending(.endingBroker, ending, since: since)
        deadline = since + Self.brokerBy
        return [.closeBus, .endBroker]
    }

    /// The launcher's broker has ended, or it has none.
    mutating func brokerEnded(at now: UInt64) -> [Action] {
        guard case .ending(.endingBroker, let ending, let since) = state else { return [] }
        state = .ending(.sweeping(since: now), ending, since: since)
        return [.removeSocket, .sweep]
    }

    /// A child that the launcher did not start has ended.
    func childEnded() -> [Action] {
        guard case .ending(.sweeping, _, _) = state else { return [] }
        return [.sweep]
    }

    /// Children were killed. Their own children become this process's, and are killed in the next
    /// round.
    /// - Parameter left: The children that were found and killed.
    mutating func swept(_ left: [Int32], at now: UInt64) -> [Action] {
        guard case .ending(.sweeping(let sweptSince), let ending, let since) = state else { return [] }
        let isTooLong = now >= since + Self.sweptBy && now >= sweptSince + Self.leastSweep
        guard left.isEmpty || isTooLong else {
            deadline = now + Self.sweepPause
            return []
        }
        state = .over
        deadline = nil
        guard !left.isEmpty else { return [.finish(ending)] }
        let processes = left.count == 1 ? "process" : "processes"
        return [.note("\(processes) \(list(left.map(String.init))) can't be killed"), .finish(ending)]
    }

    mutating func deadlinePassed(at now: UInt64) -> [Action] {
        guard let deadline, deadline <= now, case .ending(let step, _, _) = state else { return [] }
        switch step {
        case .announcing: return announced()
        case .endingModules, .endingBroker: return killed(at: now)
        case .leavingBus: return leaveTaken()
        case .sweeping: return [.sweep]
        }
    }

    /// Kills everything. What can't even be killed is not waited for.
    private mutating func killed(at now: UInt64) -> [Action] {
        guard case .ending(let step, let ending, let since) = state else { return [] }
        switch step {
        case .announcing, .endingModules, .leavingBus:
            state = .ending(.endingBroker, ending, since: since)
            deadline = max(now + 200, since + Self.killedBy)
            return [.killAll, .endReaders(ending), .closeBus, .endBroker]
        case .endingBroker:
            if now >= since + Self.killedBy { return [.killAll] + brokerEnded(at: now) }
            deadline = since + Self.killedBy
            return [.killAll]
        case .sweeping: return [.killAll]
        }
    }
}
