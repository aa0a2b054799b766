import StrataCore

/// The part of a notice's frame that is the same for all observers. It is written once for a
/// broadcast, and copied for each observer behind the number of its subscription.
struct NoticeFrame: ~Copyable {
    /// The most memory that is kept after a notice, in bytes.
    private static let mostKept = 64 << 10
    /// The first bytes of the memory, which a writer leaves for a frame's lengths.
    private static let lengths = 8

    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The bytes behind the subscription: the other members, the header's end, and the body if it is
    /// copied.
    private var count = 0
    /// The bytes of the body that are part of them.
    private var copiedCount = 0
    /// The bytes of the body that follow from elsewhere.
    private var restCount = 0
    /// The most bytes that a copy may take in an outbox.
    private(set) var room = 0
    /// The number of the current notice. Comparing it shows whether another notice was written
    /// meanwhile.
    private(set) var number: UInt64 = 0

    init() {
        capacity = 4 << 10
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { memory.deallocate() }

    /// Writes the part of a notice that is the same for all observers.
    /// - Returns: the notice's `number`.
    mutating func begin(_ notice: Notice, copiesBody: Bool) -> UInt64 {
        copiedCount = copiesBody ? notice.body.count : 0
        restCount = notice.body.count - copiedCount
        let needed = HeaderWriter.overhead + notice.room + copiedCount
        // Memory that an unusually long notice needed isn't kept.
        if needed > capacity || capacity > Self.mostKept { makeRoom(needed) }
        var writer = HeaderWriter(memory, opening: "")
        notice.writeMembers(to: &writer)
        count = writer.end(body: copiesBody ? notice.body : .none) - Self.lengths
        room = count + HeaderWriter.overhead
        number += 1
        return number
    }

    /// Writes a copy for one observation into memory with `room` bytes.
    /// - Returns: the number of bytes written; a body that isn't copied follows them.
    @inline(__always)
    func write(to target: UnsafeMutableRawPointer, subscription: UInt64, missed: Int) -> Int {
        var writer = HeaderWriter(target, .notice)
        writer.integer("subscription", subscription)
        if missed > 0 { writer.integer("missed", UInt64(missed)) }
        writer.bytes(UnsafeRawBufferPointer(start: memory + Self.lengths, count: count))
        return writer.finish(copiedBody: copiedCount, restOfBody: restCount)
    }

    private mutating func makeRoom(_ needed: Int) {
        memory.deallocate()
        capacity = max(4 << 10, needed)
        memory = .allocate(byteCount: capacity, alignment: 16)
    }
}

extension HeaderWriter {
    /// Writes the `trace` and `meta` that a frame came with.
    @inline(__always)
    mutating func passOn(_ trace: UnsafeRawBufferPointer, _ meta: UnsafeRawBufferPointer) {
        if trace.count > 0 { raw("trace", trace) }
        if meta.count > 0 { raw("meta", meta) }
    }
}

extension Notice {
    /// The most bytes that its texts may take in a header.
    var room: Int {
        HeaderWriter.room(name) + HeaderWriter.room(object ?? .none) + HeaderWriter.room(from)
            + HeaderWriter.room(node) + HeaderWriter.room(level) + trace.count + meta.count
    }

    /// The size that counts against the limits of a queue.
    var cost: Int {
        body.count + name.count + (object?.count ?? 0) + from.count + trace.count + meta.count
            + HeaderWriter.overhead / 4
    }

    /// Writes its members, after `kind` and `id`, for an observation.
    func write(to writer: inout HeaderWriter, subscription: UInt64) {
        writer.integer("subscription", subscription)
        writeMembers(to: &writer)
    }

    /// Writes the members that all observers get.
    fileprivate func writeMembers(to writer: inout HeaderWriter) {
        writeHead(to: &writer)
        writer.passOn(trace, meta)
    }

    /// Writes these members without `trace` and `meta`.
    func writeHead(to writer: inout HeaderWriter) {
        writer.name("from", from)
        if node.count > 0 { writer.name("node", node) }
        // An operator has no level.
        if level.count > 0 { writer.name("level", level) }
        writer.string("name", name)
        if let object { writer.string("object", object) }
        writer.string("via", via)
    }
}
