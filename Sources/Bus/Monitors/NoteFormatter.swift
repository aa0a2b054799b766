import StrataCore

/// Writes notes as the bodies of partial replies, into memory that it reuses.
final class NoteFormatter {
    /// The most memory that is kept after a note, in bytes.
    private static let mostKept = 128 << 10
    /// The bytes for the names of members, for numbers and brackets.
    private static let overhead = HeaderWriter.overhead

    @exclusivity(unchecked)  // because it is used for each frame, on one thread
    private var memory: UnsafeMutableRawPointer
    @exclusivity(unchecked)  // the same
    private var capacity = 4 << 10
    @exclusivity(unchecked)  // the same
    private var head: HeaderWriter
    @exclusivity(unchecked)  // the same
    private var body = Header.Text.none
    @exclusivity(unchecked)  // the same
    private var state = FrameNote.Body.unwanted
    @exclusivity(unchecked)  // the same
    private var isJSON = false

    init() {
        memory = .allocate(byteCount: capacity, alignment: 16)
        head = HeaderWriter(memory, opening: "")
    }

    deinit { memory.deallocate() }

    /// Writes the part of a note that every monitor is sent, and checks its body.
    /// - Returns: the work that this was (`NoteTurns.work`).
    func begin(_ note: FrameNote, _ texts: NoteTexts) -> Int {
        var texts = texts
        let from = texts.take(Int(note.from))
        let to = texts.take(Int(note.to))
        let callee = texts.take(note.callee)
        let name = texts.take(note.name)
        let code = texts.take(note.code)
        let url = texts.take(note.url)
        let unknownKind = texts.take(note.unknownKind)
        let object = texts.take(note.object)
        state = note.body
        body =
            switch state {
            case .kept: texts.take(note.bodyCount)
            case .begun: texts.take(FrameNote.start)
            case .unwanted, .noRoom: .none
            }
        let count =
            from.count + to.count + callee.byteCount + name.byteCount + code.byteCount + url.byteCount
            + unknownKind.byteCount + object.byteCount
        // Escaping turns one byte into up to 6.
        reserve(count * 6 + (state == .begun ? body.count * 6 : body.count) + Self.overhead)

        head = HeaderWriter(memory, opening: "")
        head.integer("at", note.at)
        // The writer begins each member with a comma, so the first comma becomes the brace.
        memory.storeBytes(of: UInt8(ascii: "{"), toByteOffset: 8, as: UInt8.self)
        if let unknownKind { head.string("kind", unknownKind) } else { head.string("kind", note.kind.name) }
        head.string("from", from)
        head.string("to", to)
        if let callee { head.string("callee", callee) }
        if note.id != 0 { head.integer("id", note.id) }
        if note.parent != 0 { head.integer("parent", note.parent) }
        if note.isPartial { head.boolean("more", true) }
        if let name { head.string("name", name) }
        if note.kind == .notice { head.string("via", note.isReported ? "report" : "broadcast" as StaticString) }
        if let object { head.string("object", object) }
        if let code { head.string("code", code) }
        if let url { head.string("url", url) }
        if note.descriptors > 0 { head.integer("descriptors", UInt64(note.descriptors)) }
        head.integer("bytes", UInt64(note.bodyCount))
        guard state == .kept, !body.isEmpty else { return NoteTurns.work(bodyBytes: 0, values: 0) }
        let check = JSON.check(body, maximumDepth: FrameNote.deepestBody, maximumValues: FrameNote.mostValues)
        isJSON = check.isJSON
        return NoteTurns.work(bodyBytes: body.count, values: check.values)
    }

    /// Returns the body of one monitor's partial reply. Its bytes are valid until the next call.
    /// - Parameters:
    ///   - missed: the number of frames that the monitor didn't get before this one.
    ///   - left: the number of frames of this one's edge that were left out before it.
    ///   - room: the most bytes that it may take. A body that doesn't fit is left out.
    func reply(missed: UInt64, left: UInt64, withBody: Bool, room: Int) -> UnsafeRawBufferPointer {
        // Each monitor's reply continues a copy of the same head.
        var writer = head
        if missed > 0 { writer.integer("missed", missed) }
        if left > 0 { writer.integer("left", left) }
        if withBody {
            switch state {
            case .begun:
                writer.string("omitted", "size" as StaticString)
                if writer.count + body.count * 6 + 32 <= room, let start = Self.text(body) {
                    writer.string("start", start)
                }
            case .noRoom, .unwanted: writer.string("omitted", "room" as StaticString)
            case .kept where writer.count + body.count + 32 > room: writer.string("omitted", "size" as StaticString)
            case .kept where body.isEmpty: writer.literal(",\"body\":null")
            case .kept where isJSON: writer.raw("body", body)
            case .kept: writer.string("omitted", "json" as StaticString)
            }
        }
        writer.literal("}")
        return UnsafeRawBufferPointer(start: memory + 8, count: writer.count - 8)
    }

    /// Returns the bytes without a character that they cut off at the end; nil if they aren't UTF-8.
    private static func text(_ bytes: Header.Text) -> Header.Text? {
        for cut in 0..<4 {
            let text = Header.Text(rebasing: bytes.dropLast(cut))
            if String(validating: text, as: UTF8.self) != nil { return text }
        }
        return nil
    }

    private func reserve(_ size: Int) {
        guard size > capacity || capacity > Self.mostKept else { return }
        memory.deallocate()
        capacity = max(size, 4 << 10)
        memory = .allocate(byteCount: capacity, alignment: 16)
    }
}
