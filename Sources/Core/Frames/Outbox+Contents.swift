/// What waits in an outbox as plain values: for a broker that is replaced.
extension Outbox {
    /// A frame that waits.
    public struct Waiting: Sendable, Equatable {
        /// The position behind its last byte.
        public var end: UInt64
        /// The bytes of the whole frame, also where some are written.
        public var count: Int
        public var isAnswer: Bool

        public init(end: UInt64, count: Int, isAnswer: Bool) {
            self.end = end
            self.count = count
            self.isAnswer = isAnswer
        }
    }

    /// The frames that wait, in order, and their bytes that are not written yet.
    public struct Contents: Sendable, Equatable {
        public var written: UInt64 = 0
        public var end: UInt64 = 0
        public var frames: [Waiting] = []
        public var bytes: [UInt8] = []

        public init() {}

        /// Whether an outbox can have them: positions in order, and as many bytes
        /// as they say.
        public var isSound: Bool {
            var (last, left) = (written, 0)
            for (index, frame) in frames.enumerated() {
                guard frame.count > 0, frame.end > last, frame.end <= end, frame.end >= UInt64(frame.count) else {
                    return false
                }
                let start = frame.end - UInt64(frame.count)
                guard start >= last || index == 0 else { return false }
                left += Int(frame.end - max(start, last))
                last = frame.end
            }
            return left == bytes.count && written <= end
        }
    }

    /// What waits now; removed frames are left out.
    public func contents() -> Contents {
        var contents = Contents()
        contents.written = written
        contents.end = end
        guard pending > 0, let storage else {
            contents.written = end
            return contents
        }
        contents.bytes.reserveCapacity(pending)
        let state = storage.pointee
        var offset = state.head
        var written = Int(self.written - min(self.written, state.entries[state.entryHead].start))
        var index = state.entryHead
        while index < state.entryTail {
            let entry = state.entries[index]
            let inlineLeft = entry.inlineCount - min(written, entry.inlineCount)
            if !entry.isRemoved {
                contents.frames.append(Waiting(end: entry.end, count: entry.count, isAnswer: entry.isAnswer))
                contents.bytes += UnsafeRawBufferPointer(start: state.bytes + offset, count: inlineLeft)
                entry.payload?._withUnsafeGuaranteedRef {
                    contents.bytes += $0.bytes[max(0, written - entry.inlineCount)...]
                }
            }
            offset += inlineLeft + state.bytes(after: index)
            written = 0
            index = state.slot(after: index)
        }
        return contents
    }

    /// An outbox in which that waits.
    /// - Precondition: the contents are sound.
    public init(pool: OutboxPool, _ contents: Contents) {
        precondition(contents.isSound, "frames that wait have their bytes")
        self.init(pool: pool)
        begin(at: contents.written, end: contents.end)
        var rest = contents.bytes[...]
        for frame in contents.frames {
            let start = frame.end - UInt64(frame.count)
            let left = Int(frame.end - max(start, contents.written))
            let memory = UnsafeMutableRawBufferPointer(start: reserve(left), count: left)
            memory.copyBytes(from: rest.prefix(left))
            rest = rest.dropFirst(left)
            take(frame, left: left)
        }
        counts.end = contents.end
    }

    /// Queues a frame whose last bytes stand in what `reserve` gave.
    private mutating func take(_ frame: Waiting, left: Int) {
        _ = append(
            Entry(end: frame.end, inlineCount: frame.count, payload: nil, payloadCount: 0, isAnswer: frame.isAnswer))
        storage!.pointee.tail -= frame.count - left  // because `append` has just used it
        counts.pending -= frame.count - left
    }
}
