import StrataCore

/// The part of a notice's frame that is the same for all observers. It is written once for a
/// broadcast, and copied for each observer around the number of its subscription.
struct NoticeFrame: ~Copyable {
    /// The most memory that is kept after a notice, in bytes.
    private static let mostKept = 64 << 10

    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The bytes before the subscription, including the space for the lengths.
    private var headCount = 0
    /// The bytes after it: the header's end, and the body if it is copied.
    private var tailCount = 0
    /// The bytes of the body that are part of the tail.
    private var copiedCount = 0
    /// The bytes of the body that follow from elsewhere.
    private var restCount = 0
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
        var writer = HeaderWriter(memory, .notice)
        notice.writeHead(to: &writer)
        headCount = writer.count
        notice.writeTail(to: &writer)
        tailCount = writer.end(body: copiesBody ? notice.body : .none) - headCount
        number += 1
        return number
    }

    /// The most bytes that a copy may take in an outbox.
    var room: Int { headCount + tailCount + HeaderWriter.overhead }

    /// Writes a copy for one observation into memory with `room` bytes.
    /// - Returns: the number of bytes written; a body that isn't copied follows them.
    @inline(__always)
    func write(to target: UnsafeMutableRawPointer, subscription: UInt64, missed: Int) -> Int {
        var writer = HeaderWriter(target, copying: UnsafeRawBufferPointer(start: memory, count: headCount))
        writer.integer("subscription", subscription)
        if missed > 0 { writer.integer("missed", UInt64(missed)) }
        writer.bytes(UnsafeRawBufferPointer(start: memory + headCount, count: tailCount))
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

    /// Writes its members, after `kind` and `id`.
    func write(to writer: inout HeaderWriter, subscription: UInt64) {
        writeHead(to: &writer)
        writer.integer("subscription", subscription)
        writeTail(to: &writer)
    }

    func writeHead(to writer: inout HeaderWriter) {
        writer.name("from", from)
        if node.count > 0 { writer.name("node", node) }
        // An operator has no level.
        if level.count > 0 { writer.string("level", level) }
        writer.string("name", name)
        if let object { writer.string("object", object) }
        writer.string("via", via)
    }

    fileprivate func writeTail(to writer: inout HeaderWriter) {
        if trace.count > 0 { writer.raw("trace", trace) }
        if meta.count > 0 { writer.raw("meta", meta) }
    }
}
