import StrataCore

/// The content of a header, in memory of its own.
struct HeaderMembers: Equatable {
    var members: Header.Members
    var kind: Header.Kind
    var id: UInt64
    /// The members that are numbers, by name.
    var numbers: [String: Int64] = [:]
    /// The members that are strings, by name.
    var texts: [String: [UInt8]] = [:]
    var flags: Header.Flags
    var ran: BusError.Ran
    /// `trace` and `meta`, as they were written.
    var trace: [UInt8]
    var meta: [UInt8]

    init(_ header: borrowing Header) {
        members = header.members
        kind = header.kind
        id = header.id
        numbers = [
            "deadline": header.deadline, "parent": header.parent, "credit": Int64(header.credit),
            "subscription": header.subscription, "missed": header.missed,
        ]
        texts = [
            "to": Array(header.to), "name": Array(header.name), "object": Array(header.object),
            "url": Array(header.url), "from": Array(header.from), "level": Array(header.level),
            "code": Array(header.code), "message": Array(header.message), "kind": Array(header.unknownKind),
        ]
        flags = header.flags
        ran = header.ran
        trace = Array(header.trace)
        meta = Array(header.meta)
    }

    /// Whether a boolean member is true.
    func isTrue(_ name: String) -> Bool {
        flags.contains(name == "more" ? .more : name == "retain" ? .retain : .retained)
    }

    /// Returns the header as the broker writes it; nil if it has something that the broker never
    /// writes.
    func written() -> [UInt8]? {
        guard kind != .unknown, numbers.values.allSatisfy({ $0 >= 0 }) else { return nil }
        guard !members.contains(.id) || id > 0, members.isDisjoint(with: [.via, .auth]) else { return nil }
        let room = texts.values.reduce(trace.count + meta.count) { $0 + 6 * $1.count + 32 }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: HeaderWriter.overhead + room, alignment: 16)
        defer { memory.deallocate() }
        var writer = HeaderWriter(memory, kind)
        if members.contains(.id) { writer.integer("id", id) }
        func text(_ name: StaticString, _ member: Header.Members) {
            guard members.contains(member) else { return }
            (texts["\(name)"] ?? []).withUnsafeBytes { writer.string(name, $0) }
        }
        func number(_ name: StaticString, _ member: Header.Members) {
            if members.contains(member) { writer.integer(name, UInt64(numbers["\(name)"] ?? 0)) }
        }
        text("to", .to)
        text("from", .from)
        text("level", .level)
        text("name", .name)
        text("object", .object)
        text("url", .url)
        text("code", .code)
        text("message", .message)
        number("subscription", .subscription)
        number("missed", .missed)
        number("deadline", .deadline)
        number("parent", .parent)
        number("credit", .credit)
        func boolean(_ name: StaticString, _ member: Header.Members) {
            if members.contains(member) { writer.boolean(name, isTrue("\(name)")) }
        }
        boolean("more", .more)
        boolean("retain", .retain)
        boolean("retained", .retained)
        if members.contains(.ran) { writer.string("ran", ran.rawValue) }
        if members.contains(.trace) { trace.withUnsafeBytes { writer.raw("trace", $0) } }
        if members.contains(.meta) { meta.withUnsafeBytes { writer.raw("meta", $0) } }
        let count = writer.end(body: .none)
        return Array(UnsafeRawBufferPointer(start: memory, count: count).dropFirst(8))
    }
}
