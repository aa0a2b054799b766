/// Whose child a process is, from the kernel's process table.
public enum Ancestors {
    /// How one process is related to another.
    public enum Descent: Sendable, Equatable {
        case itself, descends, unrelated
        /// The chain of parents could not be followed to its end.
        case unknown
    }

    /// A chain is followed so far; what a longer one leads to isn't known.
    private static let mostGenerations = 256
    /// How often a walk begins in which a step vanished.
    private static let mostWalks = 3

    /// How a process is related to an ancestor that lives. One that adopts what its
    /// descendants leave behind is never missed: a process gets no parent beyond it.
    /// - Parameter status: what the process table says of a number now.
    package static func descent(
        of process: ProcessIdentity, from ancestor: ProcessIdentity, status: (Int32) -> ProcessStatus?
    ) -> Descent {
        guard process != ancestor else { return .itself }
        for _ in 0..<mostWalks {
            if let found = walk(from: process, to: ancestor, status) { return found }
        }
        return .unknown
    }

    /// One walk up; nil where a step vanished.
    private static func walk(
        from process: ProcessIdentity, to ancestor: ProcessIdentity, _ status: (Int32) -> ProcessStatus?
    ) -> Descent? {
        var pid = process.pid
        guard var own = status(pid), own.startTicks == process.startTicks else { return nil }
        for _ in 0..<mostGenerations {
            guard own.parent > 0 else { return .unrelated }
            // A process whose parent ends gets another parent, and never one of the same
            // number: where the number is the same before and after, it was its parent
            // that was read in between.
            guard let parent = status(own.parent), status(pid) == own else { return nil }
            guard own.parent != ancestor.pid || parent.startTicks != ancestor.startTicks else { return .descends }
            (pid, own) = (own.parent, parent)
        }
        return .unknown
    }
}
