internal import Glibc

/// A file that all processes of the run share. It has the driver's orders to all processes, and a
/// place of 64 bytes for each process. It survives every process.
public final class Board: Sendable {
    /// The progress of the run.
    public enum Phase: UInt64, Sendable {
        /// The nodes of the app find each other; no requests.
        case start
        case load
        /// No new requests. A process without open requests flushes, and reports that.
        case stop
        /// All processes have flushed. They take in what is still on its way to them.
        case drain
    }

    public static let places = 4_096
    private static let size = 64 * (places + 1)

    // Because the memory is mapped for as long as the process lives, and each
    // word of it is one store or load.
    private nonisolated(unsafe) let words: UnsafeMutablePointer<UInt64>

    public init(path: String) throws(RecordError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, Self.size) == 0,
            let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else { throw RecordError("the run's board \(path) can't be opened: errno \(errno)") }
        close(descriptor)
        words = memory.assumingMemoryBound(to: UInt64.self)
    }

    public var phase: Phase {
        get { Phase(rawValue: words[0]) ?? .drain }
        set { words[0] = newValue.rawValue }
    }

    /// Returns the place of the process with that number, from 1.
    public func place(_ process: UInt32) -> Place {
        Place(words: words + 8 * (1 + Int(process) % Self.places))
    }

    /// What one process reports about itself, and its orders.
    public struct Place {
        fileprivate let words: UnsafeMutablePointer<UInt64>

        public var pid: Int32 {
            get { Int32(truncatingIfNeeded: words[0]) }
            nonmutating set { words[0] = UInt64(newValue) }
        }
        /// The index of its role.
        public var role: UInt8 {
            get { UInt8(truncatingIfNeeded: words[1]) }
            nonmutating set { words[1] = UInt64(newValue) }
        }
        /// The number of requests without a final answer.
        public var open: UInt64 {
            get { words[2] }
            nonmutating set { words[2] = newValue }
        }
        /// The phase whose part it has finished.
        public var done: UInt64 {
            get { words[3] }
            nonmutating set { words[3] = newValue }
        }
        /// An order to follow once. A number of milliseconds means to do nothing for that long;
        /// `cut` is for peers without the runtime. The process sets it to 0 when it begins.
        public var order: UInt64 {
            get { words[4] }
            nonmutating set { words[4] = newValue }
        }
        public static let cut: UInt64 = 1 << 32
        /// The index of its node.
        public var node: UInt8 {
            get { UInt8(truncatingIfNeeded: words[5]) }
            nonmutating set { words[5] = UInt64(newValue) }
        }
    }
}
