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
        let json: JSON
        do { json = try JSON(parsing: body, maximumDepth: Self.deepest) } catch {
            throw BusError(.badParams, "an adapter has to rename members of a body that is no JSON: \(error)")
        }
        guard let members = json.object else { return Array(body) }
        let renamed = members.map { member in names.first { $0.from == member.name } }
        let taken = Set(renamed.compactMap { $0?.to })
        guard !taken.isEmpty else { return Array(body) }
        var result: [UInt8] = [UInt8(ascii: "{")]
        var values = TopLevelValues(body)
        for (member, rename) in zip(members, renamed) {
            let value = values.next()
            if rename == nil, taken.contains(member.name) { continue }
            if result.count > 1 { result.append(UInt8(ascii: ",")) }
            JSON.write(rename?.to ?? member.name, to: &result)
            result.append(UInt8(ascii: ":"))
            result += value
        }
        result.append(UInt8(ascii: "}"))
        return result
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

/// The values of a JSON object's members, as bytes, one after another. The
/// object is known to be well formed.
private struct TopLevelValues {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        pass(while: Self.isSpace)
        position += 1
    }

    mutating func next() -> UnsafeRawBufferPointer {
        // A comma, where it isn't the first; the key; the colon.
        pass { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
        passString()
        pass { Self.isSpace($0) || $0 == UInt8(ascii: ":") }
        let start = position
        passValue()
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private mutating func pass(while accepted: (UInt8) -> Bool) {
        while position < bytes.count, accepted(bytes[position]) { position += 1 }
    }

    private mutating func passString() {
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
    }

    private mutating func passValue() {
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                passString()
                if depth == 0 { return }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                position += 1
                if depth == 0 { return }
            case UInt8(ascii: ","):
                if depth == 0 { return }
                position += 1
            case let byte where Self.isSpace(byte) && depth == 0:
                return
            default:
                position += 1
            }
        }
    }
}
