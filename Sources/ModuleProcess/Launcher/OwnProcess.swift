import Glibc
import StrataCore
import StrataLoop

/// The process that is the launcher's alone. It adopts what its descendants leave
/// behind, gives up gaining privileges, and takes signals as orders; where a control
/// group was delegated to it, it puts modules into groups of their own.
final class OwnProcess {
    /// What a signal asks of the launcher.
    enum Order: Equatable {
        /// The app ends; by which signal.
        case end(String)
        case reload
        case suspend
        case goOn
        /// A child has ended.
        case reap
    }

    /// Whether there was a controlling terminal at the start: one that is hung up is
    /// gone before the signal that says so.
    let hasTerminal: Bool
    /// Where the kernel holds modules to their memory.
    let groups: ControlGroups?
    private var watchers: [SignalWatcher] = []

    /// Throws where this process can't be a launcher's.
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

    /// Which signals are watched, and what each one means.
    static func orders(hasTerminal: Bool, isIgnored: (Int32) -> Bool) -> [(signal: Int32, order: Order)] {
        var orders: [(signal: Int32, order: Order)] = [
            (SIGINT, .end("SIGINT")), (SIGTERM, .end("SIGTERM")), (SIGCHLD, .reap),
        ]
        // Under nohup the end of the terminal is not to matter.
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
