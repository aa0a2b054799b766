package import StrataCore

/// Members of a body's object that get other names, top level only.
package struct MemberRenaming: Equatable {
    /// The old name first. Each of both names comes once.
    private(set) var names: [AppTable.Rename]

    var isEmpty: Bool { names.isEmpty }

    package init(_ names: [AppTable.Rename]) { self.names = names }

    /// The other way round.
    var reversed: MemberRenaming { MemberRenaming(names.map { AppTable.Rename(from: $0.to, to: $0.from) }) }

    /// A body with its members renamed, values copied as they were written. A
    /// body that is no object stays what it is; a member that stood under a new
    /// name already gives way to the renamed one.
    /// - Parameter limit: the body's size, in bytes.
    /// - Throws: `too-large`, or `bad-params` where it isn't JSON.
    package func apply(to body: UnsafeRawBufferPointer, limit: Int) throws(BusError) -> [UInt8] {
        guard !body.isEmpty else { return [] }
        try require(
            body.count <= limit, .tooLarge,
            "an adapter has to rename members of a body of \(body.count) bytes, and may look at \(limit) "
                + "(limits.adapted): send less at once, or raise it")
        var tape = JSONTape()
        do {
            try tape.scan(body, maximumDepth: Self.deepest)
            // A number may be out of range.
            _ = try JSON(tape, 0)
        } catch {
            throw BusError(.badParams, "an adapter has to rename members of a body that is no JSON: \(error)")
        }
        return renamed(tape)
    }

    private func renamed(_ tape: borrowing JSONTape) -> [UInt8] {
        guard tape.entry(0).pointee.kind == .object else { return Array(tape.bytes) }
        let members = tape.members(of: 0)
        let renames = members.map { member in names.first { $0.from == tape.string(member) } }
        let taken = Set(renames.compactMap { $0?.to })
        guard !taken.isEmpty else { return Array(tape.bytes) }
        var result: [UInt8] = [UInt8(ascii: "{")]
        for (place, (member, rename)) in zip(members, renames).enumerated() {
            let name = rename?.to ?? tape.string(member)
            if rename == nil, taken.contains(name) { continue }
            if result.count > 1 { result.append(UInt8(ascii: ",")) }
            JSON.write(name, to: &result)
            result.append(UInt8(ascii: ":"))
            result += Self.value(
                of: member, before: place + 1 < members.count ? members[place + 1] : nil, in: tape)
        }
        result.append(UInt8(ascii: "}"))
        return result
    }

    /// A member's value as it was written: what stands between its name and the next one, or the
    /// object's end, without what separates them.
    private static func value(
        of member: UInt32, before next: UInt32?, in tape: borrowing JSONTape
    ) -> Slice<UnsafeRawBufferPointer> {
        let begin = Int(tape.entry(member).pointee.end) + 1
        let isSpace: (UInt8) -> Bool = { $0 <= UInt8(ascii: " ") }
        var end = next.map { Int(tape.entry($0).pointee.start) - 1 } ?? tape.bytes.count
        while isSpace(tape.bytes[end - 1]) { end -= 1 }
        // The comma, or the object's brace.
        end -= 1
        while isSpace(tape.bytes[end - 1]) { end -= 1 }
        return tape.bytes[begin..<end].drop { isSpace($0) || $0 == UInt8(ascii: ":") }
    }

    /// How deep a body may be that is looked at.
    private static let deepest = 512
}

extension MemberRenaming: StatePart {
    init() { self.init([]) }

    mutating func fields(_ file: inout StateFile) throws(StateError) { try file(1, &names) }
}

extension AppTable.Rename: StatePart {
    init() { self.init(from: "", to: "") }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &from)
        try file(2, &to)
    }
}
