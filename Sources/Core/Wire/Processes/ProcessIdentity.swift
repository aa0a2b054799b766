/// One process for good: its number, which another process may have later, and its
/// start, which tells the two apart.
public struct ProcessIdentity: Sendable, Equatable {
    public let pid: Int32
    /// When it was started, in clock ticks since the machine's start: field 22 of
    /// `/proc/PID/stat`.
    public let startTicks: UInt64

    public init(pid: Int32, startTicks: UInt64) {
        self.pid = pid
        self.startTicks = startTicks
    }

    /// What stands for a process that had this number, and of which nothing more is
    /// known: it equals no process that there is.
    public static func ended(_ pid: Int32) -> ProcessIdentity { ProcessIdentity(pid: pid, startTicks: (1 << 53) - 1) }
}

/// What `/proc/PID/stat` says of a process.
package struct ProcessStatus: Equatable {
    package var parent: Int32
    package var startTicks: UInt64
    /// It has ended and was not waited for.
    package var hasEnded: Bool

    package init(parent: Int32, startTicks: UInt64, hasEnded: Bool = false) {
        self.parent = parent
        self.startTicks = startTicks
        self.hasEnded = hasEnded
    }

    /// Reads the line. The second field, the name in parentheses, may hold anything;
    /// the state is the third.
    package init?(_ line: UnsafeRawBufferPointer) {
        guard let nameEnd = line.lastIndex(of: UInt8(ascii: ")")), nameEnd + 2 < line.count else { return nil }
        let state = line[nameEnd + 2]
        var numbers: (parent: UInt64?, threads: UInt64?, start: UInt64?)
        var field = 3
        var index = nameEnd + 3
        while index < line.count, field < 22 {
            field += 1
            index += 1
            var number: UInt64 = 0
            while index < line.count, line[index] != UInt8(ascii: " "), line[index] != UInt8(ascii: "\n") {
                number = number &* 10 &+ UInt64(line[index] &- 0x30)
                index += 1
            }
            switch field {
            case 4: numbers.parent = number
            case 20: numbers.threads = number
            case 22: numbers.start = number
            default: break
            }
        }
        guard let parent = numbers.parent.flatMap({ Int32(exactly: $0) }), let threads = numbers.threads,
            let start = numbers.start
        else { return nil }
        // The first thread may have ended before the others.
        self.init(
            parent: parent, startTicks: start,
            hasEnded: state == UInt8(ascii: "X") || state == UInt8(ascii: "Z") && threads <= 1)
    }
}

/// A peer's process and user, as they were when it connected.
public struct PeerCredentials: Sendable, Equatable {
    public var pid: Int32
    public var uid: UInt32
    public var gid: UInt32
    /// When they were asked for, in clock ticks since the machine's start.
    public var seenAt: UInt64

    public init(pid: Int32, uid: UInt32, gid: UInt32, seenAt: UInt64) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.seenAt = seenAt
    }
}

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
