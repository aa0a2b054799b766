package import StrataCore

/// New names for members of a body's object, at the top level only.
package struct MemberRenaming: Equatable {
    /// The pairs of old and new names. No old name and no new name occurs twice.
    private(set) var names: [AppTable.Rename]

    var isEmpty: Bool { names.isEmpty }

    package init(_ names: [AppTable.Rename]) { self.names = names }

    /// The inverse renaming.
    var reversed: MemberRenaming { MemberRenaming(names.map { AppTable.Rename(from: $0.to, to: $0.from) }) }

    /// Returns a body with its members renamed, and their values copied as they were written. A
    /// body that is no object stays as it is. A member that already has one of the new names is
    /// dropped in favor of the renamed one.
    /// - Parameter limit: the most bytes that the body may have.
    /// - Throws: `too-large`, or `bad-params` if the body isn't JSON.
    package func apply(to body: UnsafeRawBufferPointer, limit: Int) throws(BusError) -> [UInt8] {
        guard !body.isEmpty else { return [] }
        try require(
            body.count <= limit, .tooLarge,
            "an adapter has to rename members of a body of \(body.count) bytes, and may read \(limit) "
                + "(limits.adapted): send less at once, or raise it")
        var tape = JSONTape()
        do {
            try tape.scan(body, maximumDepth: Self.deepest)
            // The scan accepts numbers that are out of range; the conversion doesn't.
            _ = try JSON(tape, 0)
        } catch {
            throw BusError(.badParams, "an adapter has to rename members of a body that is not JSON: \(error)")
        }
        return renamed(tape)
    }

    private func renamed(_ tape: borrowing JSONTape) -> [UInt8] {
        guard tape.entry(0).pointee.kind == .object else { return Array(tape.bytes) }
        let members = tape.members(of: 0)
        let renames = members.map { member in names.first { $0.from == tape.string(member) } }
        let taken = Set(renames.compactMap { $0?.to })
        // Nothing is renamed, so the body passes as it was written.
        guard !taken.isEmpty else { return Array(tape.bytes) }
        var result: [UInt8] = [UInt8(ascii: "{")]
        for (place, (member, rename)) in zip(members, renames).enumerated() {
            let name = rename?.to ?? tape.string(member)
            // The renamed member takes its place.
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

    /// Returns a member's value as it was written: the text between its name and the next name or
    /// the object's end, without separators.
    static func value(
        of member: UInt32, before next: UInt32?, in tape: borrowing JSONTape
    ) -> Slice<UnsafeRawBufferPointer> {
        let begin = Int(tape.entry(member).pointee.end) + 1
        let isSpace: (UInt8) -> Bool = { $0 <= UInt8(ascii: " ") }
        var end = next.map { Int(tape.entry($0).pointee.start) - 1 } ?? tape.bytes.count
        while isSpace(tape.bytes[end - 1]) { end -= 1 }
        // Skips the comma, or the object's closing brace.
        end -= 1
        while isSpace(tape.bytes[end - 1]) { end -= 1 }
        return tape.bytes[begin..<end].drop { isSpace($0) || $0 == UInt8(ascii: ":") }
    }

    /// The most levels of a body that is renamed.
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
