internal import StrataCore

/// The words for a failure. They are made once, for the one that is shown.
extension ValueCheck {
    func mismatch(_ failure: Failure) -> SchemaMismatch {
        let node = graph[failure.node]
        var path = tape.path(to: failure.entry)
        var range = tape.range(of: failure.entry)
        var found = words(failure.entry)
        var hint: String?
        let expected: String
        switch failure.kind {
        case .unlike, .stopped: expected = SchemaWords.words(node.schema)
        case .name: (expected, found) = ("a name that is \(SchemaWords.words(node.schema))", "the name \(found)")
        case .missing(let place):
            guard case .object(let members) = node.shape else { preconditionFailure("only an object lacks a member") }
            let member = members.list[place]
            path = path.member(member.name)
            (expected, found) = (SchemaWords.words(graph[member.node].schema), "nothing")
            if let similar = nearest(to: member.name, in: failure.entry, besides: members) {
                hint = "there is \(Words.quoted(tape.string(similar)))"
                range = tape.range(of: similar)
            }
        case .unexpected:
            guard case .object(let members) = node.shape else { preconditionFailure("only an object has members") }
            let nearest = nearestNames(to: tape.string(failure.entry), in: members.list.lazy.map(\.name))
            if !nearest.isEmpty { hint = "did you mean \(Words.list(nearest.map { Words.quoted($0) }))?" }
            (expected, found) = ("no such member", words(failure.entry + 1))
        case .tags(let nodes):
            expected = Words.list(nodes.map { SchemaWords.words(graph[$0].schema) })
        case .noTag(let names):
            expected = "an object with \(Words.list(names.map { Words.quoted($0) }))"
            let own = tape.members(of: failure.entry).prefix(3).map { Words.quoted(tape.string($0)) }
            found = own.isEmpty ? "an object without members" : "an object with \(Words.list(own, last: "and"))"
        }
        return SchemaMismatch(
            path: path.description, expected: expected, found: found, hint: hint, range: range)
    }

    private func words(_ entry: UInt32) -> String {
        switch tape.entry(entry).pointee.kind {
        case .array: Words.count(Int(tape.entry(entry).pointee.end), "an array", "element", "elements")
        case .object: "an object"
        case .null, .no, .yes, .string: (try? JSON(tape, entry)).map(Words.value) ?? ""
        case .number: "the number \(Words.cut(String(decoding: tape.text(entry), as: UTF8.self)))"
        }
    }

    /// Returns the entry of a member's name that is like a missing one, and that isn't listed.
    private func nearest(to name: String, in object: UInt32, besides members: SchemaNode.Members) -> UInt32? {
        var unlisted: [(name: String, entry: UInt32)] = []
        for entry in tape.members(of: object) {
            let name = tape.string(entry)
            if members[name] == nil { unlisted.append((name, entry)) }
        }
        guard let nearest = nearestNames(to: name, in: unlisted.lazy.map(\.name)).first else { return nil }
        return unlisted.first { $0.name == nearest }?.entry
    }
}
