import Glibc
import StrataCore
import StrataLoop

/// The process of a launcher that has it to itself. It adopts the orphans of its descendants, can
/// no longer gain privileges, and takes signals as orders. If a control group was delegated to it,
/// each module gets a group of its own.
final class OwnProcess {
    /// An order that a signal gives the launcher.
    enum Order: Equatable {
        /// Ends the app; the value names the signal.
        case end(String)
        case reload
        case suspend
        case goOn
        /// A child has ended.
        case reap
    }

    /// Whether there was a controlling terminal at the start. When a terminal hangs up, it is gone
    /// before the signal arrives.
    let hasTerminal: Bool
    /// The control groups in which the kernel enforces modules' memory limits; nil if none was
    /// delegated.
    let groups: ControlGroups?
    private var watchers: [SignalWatcher] = []

    /// Throws if this process can't be a launcher's.
    init(_ loop: Loop, onOrder: @escaping (Order) -> Void) throws(SystemError) {
        try ProcessControl.becomeSubreaper()
        try ProcessControl.renouncePrivileges()
        ProcessControl.keepDescriptorsToItself()
        groups = ControlGroups.delegated()
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        hasTerminal = terminal >= 0
        if hasTerminal { Glibc.close(terminal) }
        for (signal, order) in Self.orders(hasTerminal: hasTerminal, isIgnored: Self.isIgnored) {
            watchers.append(try SignalWatcher(loop, signal: signal) { onOrder(order) })
        }
    }

    /// Returns the signals to watch, and the order that each gives.
    static func orders(hasTerminal: Bool, isIgnored: (Int32) -> Bool) -> [(signal: Int32, order: Order)] {
        var orders: [(signal: Int32, order: Order)] = [
            (SIGINT, .end("SIGINT")), (SIGTERM, .end("SIGTERM")), (SIGCHLD, .reap),
        ]
        // Under nohup, the end of the terminal must not end the app.
        if !isIgnored(SIGHUP) { orders.append((SIGHUP, hasTerminal ? .end("SIGHUP") : .reload)) }
        if !isIgnored(SIGTSTP) { orders += [(SIGTSTP, .suspend), (SIGCONT, .goOn)] }
        return orders
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
            == unsafeBitCast(SIG_IGN, to: UInt.self)
    }

    /// Called when no other process of the app is left.
    func close() {
        for watcher in watchers { watcher.close() }
        watchers = []
        groups?.close()
    }
}
