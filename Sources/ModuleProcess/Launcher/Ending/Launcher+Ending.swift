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
