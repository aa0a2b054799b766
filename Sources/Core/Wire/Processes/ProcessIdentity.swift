/// The lasting identity of a process: its pid, which another process may get later, and its start
/// time, which tells the two apart.
public struct ProcessIdentity: Sendable, Equatable {
    public let pid: Int32
    /// The start time, in clock ticks since the machine's start: field 22 of `/proc/PID/stat`.
    public let startTicks: UInt64

    public init(pid: Int32, startTicks: UInt64) {
        self.pid = pid
        self.startTicks = startTicks
    }

    /// Returns the identity of a process that had this pid and of which nothing else is known. It
    /// equals no existing process.
    public static func ended(_ pid: Int32) -> ProcessIdentity { ProcessIdentity(pid: pid, startTicks: (1 << 53) - 1) }
}

/// A process's state from `/proc/PID/stat`.
package struct ProcessStatus: Equatable {
    package var parent: Int32
    package var startTicks: UInt64
    /// Whether it has ended and was not waited for.
    package var hasEnded: Bool

    package init(parent: Int32, startTicks: UInt64, hasEnded: Bool = false) {
        self.parent = parent
        self.startTicks = startTicks
        self.hasEnded = hasEnded
    }

    /// Reads the line. The second field, the name in parentheses, may contain anything; the state
    /// is the third.
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
        // The first thread may end before the other threads, which looks like a zombie.
        self.init(
            parent: parent, startTicks: start,
            hasEnded: state == UInt8(ascii: "X") || state == UInt8(ascii: "Z") && threads <= 1)
    }
}

/// A peer's process and user, as of the moment when it connected.
public struct PeerCredentials: Sendable, Equatable {
    public var pid: Int32
    public var uid: UInt32
    public var gid: UInt32
    /// The time when the credentials were read, in clock ticks since the machine's start.
    public var seenAt: UInt64

    public init(pid: Int32, uid: UInt32, gid: UInt32, seenAt: UInt64) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.seenAt = seenAt
    }
}

/// Relations between processes, from the kernel's process table.
public enum Ancestors {
    /// The relation of one process to another.
    public enum Descent: Sendable, Equatable {
        case itself, descends, unrelated
        /// The chain of parents could not be followed to its end.
        case unknown
    }

    /// The most parents that are followed; a longer chain gives `unknown`.
    private static let mostGenerations = 256
    /// How often a walk is tried if a process on the way vanishes.
    private static let mostWalks = 3

    /// Returns how a process is related to a living ancestor. An ancestor that is a subreaper is
    /// never missed, since no orphan below it gets a parent above it.
    /// - Parameter status: the current entry of the process table for a pid.
    package static func descent(
        of process: ProcessIdentity, from ancestor: ProcessIdentity, status: (Int32) -> ProcessStatus?
    ) -> Descent {
        guard process != ancestor else { return .itself }
        for _ in 0..<mostWalks {
            if let found = walk(from: process, to: ancestor, status) { return found }
        }
        return .unknown
    }

    /// Walks up the parents once; returns nil if a process on the way vanished.
    private static func walk(
        from process: ProcessIdentity, to ancestor: ProcessIdentity, _ status: (Int32) -> ProcessStatus?
    ) -> Descent? {
        var pid = process.pid
        guard var own = status(pid), own.startTicks == process.startTicks else { return nil }
        for _ in 0..<mostGenerations {
            guard own.parent > 0 else { return .unrelated }
            // When a parent ends, the process gets a parent with another pid. So if the pid is the
            // same before and after, the entry read in between was the parent's.
            guard let parent = status(own.parent), status(pid) == own else { return nil }
            guard own.parent != ancestor.pid || parent.startTicks != ancestor.startTicks else { return .descends }
            (pid, own) = (own.parent, parent)
        }
        return .unknown
    }
}
