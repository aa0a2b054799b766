import StrataCore

/// The frames that must still be sent to monitors, oldest first. Notes of fixed size are in one
/// ring, their texts and bodies in another. Both have memory only while there is a monitor. A frame
/// that finds no room isn't kept.
final class NoteRing {
    /// The most notes.
    static let most = 4_096
    /// The most bytes of their texts and bodies.
    static let bytes = 1 << 20

    private let notes: UnsafeMutablePointer<FrameNote>
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private let byteCapacity: Int
    /// Bodies are kept only up to this many bytes in use, so that texts still have room.
    private let mostWithBodies: Int
    @exclusivity(unchecked)  // because it is used for each frame, on one thread
    private var first = 0
    @exclusivity(unchecked)  // the same
    private(set) var count = 0
    /// The offset of the oldest note's bytes.
    @exclusivity(unchecked)  // the same
    private var oldest = 0
    /// The offset at which the next note's bytes are stored.
    @exclusivity(unchecked)  // the same
    private var next = 0

    init(most: Int = NoteRing.most, bytes: Int = NoteRing.bytes) {
        capacity = most
        byteCapacity = bytes
        mostWithBodies = bytes / 4 * 3
        notes = .allocate(capacity: most)
        memory = .allocate(byteCount: bytes, alignment: 16)
    }

    deinit {
        notes.deallocate()
        memory.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// Whether there is no place left for a frame with a gap of each monitor before it.
    @inline(__always)
    var isFull: Bool { count + 1 + Monitor.most > capacity }

    /// The bytes that are in use, or unused at the end of the memory.
    var bytesInUse: Int { next >= oldest ? next - oldest : byteCapacity - oldest + next }

    // MARK: adding

    /// The place where a frame's bytes will be stored, and whether its body will be.
    struct Place {
        fileprivate let offset: Int
        let body: FrameNote.Body
    }

    /// Finds room for a frame's texts, and for its body if a monitor wants it.
    /// - Returns: nil if the texts have no room.
    func place(for frame: borrowing MonitoredFrame, withBody: Bool) -> Place? {
        let texts =
            frame.from.count + frame.to.count + frame.callee.byteCount + frame.name.byteCount + frame.code.byteCount
            + frame.url.byteCount + frame.unknownKind.byteCount + frame.object.byteCount
        let isWhole = frame.body.count <= FrameNote.largestBody
        let kept = isWhole ? frame.body.count : FrameNote.start
        if withBody, bytesInUse + texts + kept <= mostWithBodies, let offset = offset(of: texts + kept) {
            return Place(offset: offset, body: isWhole ? .kept : .begun)
        }
        return offset(of: texts).map { Place(offset: $0, body: withBody ? .noRoom : .unwanted) }
    }

    /// Adds a note that a monitor missed frames before its next one, and that others of that one's
    /// edge were left out. The caller has checked that there is room.
    func addGap(_ missed: UInt64, left: UInt64 = 0, of monitor: UInt16) {
        var note = FrameNote()
        note.isGap = true
        note.id = missed
        note.parent = left
        note.monitors = monitor
        note.offset = next
        append(note)
    }

    /// Adds a note of a frame for some monitors. The caller has checked that there is room.
    /// - Parameter time: microseconds since 1970.
    func add(_ frame: borrowing MonitoredFrame, at place: Place, for monitors: UInt16, time: UInt64) {
        var note = FrameNote()
        note.at = time
        note.id = frame.id
        note.parent = frame.parent
        note.monitors = monitors
        note.kind = frame.kind
        note.isPartial = frame.isPartial
        note.isReported = frame.isReported
        note.body = place.body
        note.descriptors = frame.descriptors
        note.offset = place.offset
        note.bodyCount = frame.body.count
        var cursor = memory + place.offset
        note.from = Self.copy(frame.from, to: &cursor)
        note.to = Self.copy(frame.to, to: &cursor)
        if let text = frame.callee { note.callee = Self.copy(text, to: &cursor) }
        if let text = frame.name { note.name = Self.copy(text, to: &cursor) }
        if let text = frame.code { note.code = Self.copy(text, to: &cursor) }
        if let text = frame.url { note.url = Self.copy(text, to: &cursor) }
        if let text = frame.unknownKind { note.unknownKind = Self.copy(text, to: &cursor) }
        if let text = frame.object { note.object = Self.copy(text, to: &cursor) }
        switch place.body {
        case .kept: _ = Self.copy(frame.body, to: &cursor)
        case .begun: _ = Self.copy(Header.Text(rebasing: frame.body.prefix(FrameNote.start)), to: &cursor)
        case .unwanted, .noRoom: break
        }
        next = cursor - memory
        append(note)
    }

    private func append(_ note: FrameNote) {
        var index = first + count
        if index >= capacity { index -= capacity }
        (notes + index).initialize(to: note)
        count += 1
    }

    /// Returns where `size` bytes may be stored contiguously; nil if they have no room. One byte
    /// always stays free, so that a full ring isn't mistaken for an empty one.
    private func offset(of size: Int) -> Int? {
        if next >= oldest {
            if size < byteCapacity - next { return next }
            // A note's bytes must be contiguous, so the end of the memory stays unused.
            return size < oldest ? 0 : nil
        }
        return size < oldest - next ? next : nil
    }

    @inline(__always)
    private static func copy(_ text: Header.Text, to cursor: inout UnsafeMutableRawPointer) -> Int32 {
        if let base = text.baseAddress { cursor.copyMemory(from: base, byteCount: text.count) }
        cursor += text.count
        return Int32(truncatingIfNeeded: text.count)
    }

    // MARK: taking

    /// Takes the oldest note out. Its bytes remain valid until the next `add`.
    func takeFirst() -> FrameNote? {
        guard count > 0 else { return nil }
        let note = notes[first]
        first += 1
        if first == capacity { first = 0 }
        count -= 1
        // An empty ring starts at the beginning, where the contiguous room is largest.
        if count == 0 {
            oldest = 0
            next = 0
        } else {
            oldest = notes[first].offset
        }
        return note
    }

    /// Returns a note's texts and its body, which follow one another.
    func texts(of note: FrameNote) -> NoteTexts { NoteTexts(cursor: UnsafeRawPointer(memory) + note.offset) }

    /// Removes a monitor that has ended from all notes.
    func forget(_ monitor: UInt16) {
        for offset in 0..<count { notes[(first + offset) % capacity].monitors &= ~monitor }
    }
}

/// A reader of a note's texts, in their order.
struct NoteTexts {
    fileprivate var cursor: UnsafeRawPointer

    /// Returns the next text, which has this length; nil if the length is negative.
    mutating func take(_ count: Int32) -> Header.Text? { count < 0 ? nil : take(Int(count)) }

    mutating func take(_ count: Int) -> Header.Text {
        defer { cursor += count }
        return Header.Text(start: cursor, count: count)
    }
}
