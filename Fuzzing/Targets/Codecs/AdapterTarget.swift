import StrataBus
import StrataCore

/// Renaming members of bodies. The first line has the renames, as in `a:b,c:d`, and the rest is
/// the body. The result must have the expected values, and each name only once.
enum AdapterTarget {
    private static let limit = 2_048

    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        var renames: [AppTable.Rename] = []
        for pair in String(decoding: input.line(), as: UTF8.self).split(separator: ",").prefix(8) {
            let names = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard names.count == 2, !renames.contains(where: { same($0.from, names[0]) || same($0.to, names[1]) })
            else { continue }
            renames.append(AppTable.Rename(from: names[0], to: names[1]))
        }
        let body = input.rest()
        let renaming = MemberRenaming(renames)
        let result: [UInt8]
        do throws(BusError) {
            result = try body.withUnsafeBufferPointer { (bytes) throws(BusError) in
                try renaming.apply(to: UnsafeRawBufferPointer(bytes), limit: limit)
            }
        } catch {
            let isJSON = (try? JSON(parsing: body, maximumDepth: 512)) != nil
            try demand(!isJSON || body.count > limit, "a body was refused that is JSON: \(error.message)")
            return
        }
        guard !body.isEmpty else { return try demand(result.isEmpty, "an empty body became another") }
        guard let before = try? JSON(parsing: body, maximumDepth: 512) else {
            throw FuzzFinding("a body was taken that is no JSON")
        }
        guard let after = try? JSON(parsing: result, maximumDepth: 512) else {
            throw FuzzFinding("the renamed body is no JSON: \(String(decoding: result, as: UTF8.self))")
        }
        try demand(
            after == expected(before, renames), "the renamed body is \(String(decoding: result, as: UTF8.self))")
    }

    private static func expected(_ body: JSON, _ renames: [AppTable.Rename]) -> JSON {
        guard let members = body.object else { return body }
        func rename(_ name: String) -> String? { renames.first { same($0.from, name) }?.to }
        let taken = members.compactMap { rename($0.name) }
        return .object(
            members.compactMap { member in
                if let new = rename(member.name) { return JSON.Member(new, member.value) }
                return taken.contains { same($0, member.name) } ? nil : member
            })
    }

    /// Compares byte by byte, unlike `==`.
    private static func same(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
