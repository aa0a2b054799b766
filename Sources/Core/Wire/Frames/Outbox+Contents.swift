/// The waiting frames of an outbox as plain values, for the broker that replaces this one.
extension Outbox {
    /// A waiting frame. It has only numbers and no padding, since it is written into a file as it
    /// is in memory.
    public struct Waiting: Sendable, Equatable, BitwiseCopyable {
        /// The position after its last byte.
        public var end: UInt64
        /// The number of the frame's bytes in the contents' `bytes`, counting those that are
        /// already written.
        public var inlineCount: UInt32
        /// The number of its bytes in a payload.
        public var payloadCount: UInt32
        /// The payload's index among those of the state; -1 for none.
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

    /// The waiting frames in order, and their bytes that are not written yet.
    public struct Contents {
        public var written: UInt64 = 0
        public var end: UInt64 = 0
        public var frames: [Waiting] = []
        /// The frames' bytes outside payloads.
        public var bytes = WaitingBytes()

        public init() {}

        /// Whether an outbox can have these contents: the positions are in order, the number of
        /// bytes matches, and the payloads exist.
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

    /// Returns what waits now, without removed frames. The bytes remain the outbox's.
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

    /// Adjacent frames become one buffer, so most outboxes have a single one.
    private static func append(_ piece: UnsafeRawBufferPointer, to pieces: inout [UnsafeRawBufferPointer]) {
        guard let start = piece.baseAddress, piece.count > 0 else { return }
        if let last = pieces.last, let lastStart = last.baseAddress, lastStart + last.count == start {
            pieces[pieces.count - 1] = UnsafeRawBufferPointer(start: lastStart, count: last.count + piece.count)
        } else {
            pieces.append(piece)
        }
    }

    /// The number of waiting frames and of their bytes, without payloads, which is what a state
    /// holds.
    public var waiting: (frames: Int, bytes: Int) {
        guard pending > 0, let storage else { return (0, 0) }
        return (storage.pointee.entryTail - storage.pointee.entryHead, storage.pointee.tail - storage.pointee.head)
    }

    /// Makes an outbox with these contents. It shares the payloads and copies all other bytes.
    /// - Precondition: the contents are sound with these payloads.
    public init(pool: OutboxPool, _ contents: Contents, _ payloads: [Payload]) {
        precondition(contents.isSound(payloads), "frames that wait have their bytes")
        self.init(pool: pool)
        begin(at: contents.written, end: contents.end)
        guard let first = contents.frames.first else { return }
        contents.bytes.withPieces { pieces in
            var place = reserve(contents.bytes.count)
            for piece in pieces where !piece.isEmpty {
                place.copyMemory(from: piece.baseAddress!, byteCount: piece.count)  // because it isn't empty
                place += piece.count
            }
        }
        for frame in contents.frames { take(frame, frame.payload < 0 ? nil : payloads[Int(frame.payload)]) }
        // `append` counted the whole first frame, of which a part may already be written.
        let start = first.end - first.count
        let isWritten = Int(contents.written - min(contents.written, start))
        storage!.pointee.tail -= min(isWritten, Int(first.inlineCount))
        counts.pending -= isWritten
        counts.end = contents.end
        noteWaiting()
    }

    /// Queues a frame whose bytes are already in the space from `reserve`.
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
