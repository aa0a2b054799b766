/// What waits in an outbox as plain values: for a broker that is replaced.
extension Outbox {
    /// A frame that waits. Numbers alone, without a gap between them: it is written into a
    /// file as it stands in memory.
    public struct Waiting: Sendable, Equatable, BitwiseCopyable {
        /// The position behind its last byte.
        public var end: UInt64
        /// The bytes of the frame that stand in the contents' `bytes`, also where some are
        /// written.
        public var inlineCount: UInt32
        /// Those that stand in a payload.
        public var payloadCount: UInt32
        /// The payload's place among those of the state; -1 for none.
        public var payload: Int32
        private var flags: UInt32

        public init(
            end: UInt64, inlineCount: Int, payload: Int = -1, payloadCount: Int = 0, isAnswer: Bool,
            isBeyond: Bool = false
        ) {
            self.end = end
            self.inlineCount = UInt32(truncatingIfNeeded: inlineCount)
            self.payloadCount = UInt32(truncatingIfNeeded: payloadCount)
            self.payload = Int32(truncatingIfNeeded: payload)
            flags = (isAnswer ? 1 : 0) | (isBeyond ? 2 : 0)
        }

        public var isAnswer: Bool { flags & 1 != 0 }
        public var isBeyond: Bool { flags & 2 != 0 }
        public var count: UInt64 { UInt64(inlineCount) + UInt64(payloadCount) }
    }

    /// The frames that wait, in order, and their bytes that are not written yet.
    public struct Contents {
        public var written: UInt64 = 0
        public var end: UInt64 = 0
        public var frames: [Waiting] = []
        /// Of the frames' parts outside of payloads.
        public var bytes = WaitingBytes()

        public init() {}

        /// Whether an outbox can have them: positions in order, as many bytes as they say,
        /// and payloads that are there.
        public func isSound(_ payloads: [Payload]) -> Bool {
            var (last, left) = (written, 0)
            for (index, frame) in frames.enumerated() {
                guard frame.count > 0, frame.end > last, frame.end <= end, frame.end >= frame.count else {
                    return false
                }
                if frame.payload >= 0 {
                    guard frame.payload < payloads.count,
                        payloads[Int(frame.payload)].bytes.count == Int(frame.payloadCount)
                    else { return false }
                } else if frame.payloadCount != 0 {
                    return false
                }
                let start = frame.end - frame.count
                guard start >= last || index == 0 else { return false }
                left += Int(frame.inlineCount) - Int(min(last - min(last, start), UInt64(frame.inlineCount)))
                last = frame.end
            }
            return left == bytes.count && written <= end
        }
    }

    /// What waits now; removed frames are left out. Its bytes stay the outbox's.
    public func contents(_ payloads: inout PayloadList) -> Contents {
        var contents = Contents()
        contents.written = written
        contents.end = end
        guard pending > 0, let storage else {
            contents.written = end
            return contents
        }
        let state = storage.pointee
        contents.frames.reserveCapacity(state.entryTail - state.entryHead)
        var pieces: [UnsafeRawBufferPointer] = []
        var offset = state.head
        var written = Int(self.written - min(self.written, state.entries[state.entryHead].start))
        var index = state.entryHead
        while index < state.entryTail {
            let entry = state.entries[index]
            let inlineLeft = entry.inlineCount - min(written, entry.inlineCount)
            if !entry.isRemoved {
                let place = entry.payload?._withUnsafeGuaranteedRef { payloads.place(of: $0) }
                contents.frames.append(
                    Waiting(
                        end: entry.end, inlineCount: entry.inlineCount, payload: place ?? -1,
                        payloadCount: entry.payloadCount, isAnswer: entry.isAnswer, isBeyond: entry.isBeyond))
                Self.append(UnsafeRawBufferPointer(start: state.bytes + offset, count: inlineLeft), to: &pieces)
            }
            offset += inlineLeft + state.bytes(after: index)
            written = 0
            index = state.slot(after: index)
        }
        contents.bytes = .pieces(pieces)
        return contents
    }

    /// Frames stand one behind the other: most outboxes are one piece.
    private static func append(_ piece: UnsafeRawBufferPointer, to pieces: inout [UnsafeRawBufferPointer]) {
        guard let start = piece.baseAddress, piece.count > 0 else { return }
        if let last = pieces.last, let lastStart = last.baseAddress, lastStart + last.count == start {
            pieces[pieces.count - 1] = UnsafeRawBufferPointer(start: lastStart, count: last.count + piece.count)
        } else {
            pieces.append(piece)
        }
    }

    /// What waits takes so much to write down, payloads left out: frames, and bytes.
    public var waiting: (frames: Int, bytes: Int) {
        guard pending > 0, let storage else { return (0, 0) }
        return (storage.pointee.entryTail - storage.pointee.entryHead, storage.pointee.tail - storage.pointee.head)
    }

    /// An outbox in which that waits. Payloads are shared with it, all other bytes are copied.
    /// - Precondition: the contents are sound with these payloads.
    public init(pool: OutboxPool, _ contents: Contents, _ payloads: [Payload]) {
        precondition(contents.isSound(payloads), "frames that wait have their bytes")
        self.init(pool: pool)
        begin(at: contents.written, end: contents.end)
        guard let first = contents.frames.first else { return }
        contents.bytes.withPieces { pieces in
            var place = reserve(contents.bytes.count)
            for piece in pieces where !piece.isEmpty {
                place.copyMemory(from: piece.baseAddress!, byteCount: piece.count)  // because it has bytes
                place += piece.count
            }
        }
        for frame in contents.frames { take(frame, frame.payload < 0 ? nil : payloads[Int(frame.payload)]) }
        // Of the first frame some may be written: `append` has counted it whole.
        let start = first.end - first.count
        let isWritten = Int(contents.written - min(contents.written, start))
        storage!.pointee.tail -= min(isWritten, Int(first.inlineCount))
        counts.pending -= isWritten
        counts.end = contents.end
        noteWaiting()
    }

    /// Queues a frame whose bytes stand in what `reserve` gave.
    private mutating func take(_ frame: Waiting, _ payload: Payload?) {
        if let payload {
            irregular += 1
            payload.hold()
            storage!.pointee.holdsPayloads = true
        }
        _ = append(
            Entry(
                end: frame.end, inlineCount: Int(frame.inlineCount), payload: payload.map { .passRetained($0) },
                payloadCount: Int(frame.payloadCount), isAnswer: frame.isAnswer))
        if frame.isBeyond { countBeyond() }
    }
}
