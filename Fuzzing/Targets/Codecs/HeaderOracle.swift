import StrataCore

/// What sections 2 and 3 of the protocol say about a header, checked by way of `JSON`.
enum HeaderOracle {
    private static let largest: Int64 = 9_007_199_254_740_991

    /// Compares the scanner's result with what the protocol says.
    static func judge(_ text: [UInt8], _ outcome: Result<HeaderMembers, HeaderError>) throws(FuzzFinding) {
        let json: JSON
        do throws(JSONError) { json = try JSON(parsing: text, maximumDepth: 32) } catch {
            // The scanner doesn't look at the value of a member that it ignores.
            if error.message.contains("out of range") { return }
            guard case .success = outcome else { return }
            throw FuzzFinding("a header was taken that is no JSON: \(error)")
        }
        // The JSON value doesn't tell whether a number beyond Int64 was written as an integer.
        if case .number? = json["id"] { return }
        switch (outcome, refusal(json)) {
        case (.success, let reason?): throw FuzzFinding("a header was taken whose \(reason)")
        case (.success(let members), nil): try compare(members, json, text)
        case (.failure(let error), nil):
            // Only for this limit, the bytes count as they were written.
            guard error.reason.contains("\"meta\" has"), text.count > 4_096 else {
                throw FuzzFinding("a header was refused that is one: it \(error.reason)")
            }
        case (.failure, _?): break
        }
    }

    /// Returns the reason why a JSON value is not a header; nil if it is one.
    private static func refusal(_ json: JSON) -> String? {
        guard let members = json.object else { return "text is no object" }
        if json["kind"] == nil { return "kind is missing" }
        for member in members {
            switch member.name {
            case "kind", "to", "from", "level", "object", "url", "code", "message", "trace":
                guard case .string = member.value else { return "\(member.name) is no string" }
            case "name":
                guard case .string(let name) = member.value, (1...256).contains(name.utf8.count) else {
                    return "name is none"
                }
            case "via" where member.value != "broadcast" && member.value != "report": return "via is none"
            case "auth" where member.value != "skip": return "auth is none"
            case "ran" where member.value != "no" && member.value != "maybe" && member.value != "yes":
                return "ran is none"
            case "more", "retain", "retained":
                guard case .bool = member.value else { return "\(member.name) is no boolean" }
            case "meta":
                guard case .object = member.value else { return "meta is no object" }
            case "id":
                guard case .integer = member.value else { return "id is no integer" }
            case "deadline", "parent", "subscription", "missed", "credit":
                guard case .integer(let value) = member.value, (-largest...largest).contains(value),
                    member.name != "credit" || value >= 0
                else { return "\(member.name) is no integer within its range" }
            default: break
            }
        }
        return nil
    }

    private static func compare(_ members: HeaderMembers, _ json: JSON, _ text: [UInt8]) throws(FuzzFinding) {
        let known = (json.object ?? []).filter { names.contains($0.name) }
        try demand(
            members.members.rawValue.nonzeroBitCount == known.count,
            "\(known.count) known members are there, and \(members.members.rawValue.nonzeroBitCount) were found")
        for member in known {
            let isSame: Bool
            switch member.value {
            case .string(let string) where member.name == "kind":
                isSame =
                    string == "\(members.kind.name)" && members.kind != .unknown
                    || members.kind == .unknown && (members.texts["kind"] ?? []).elementsEqual(string.utf8)
            case .string(let string) where member.name == "ran": isSame = string == members.ran.rawValue
            case .string where member.name == "trace":
                isSame = (try? JSON(parsing: members.trace)) == member.value
            case .string(let string) where !["via", "auth"].contains(member.name):
                isSame = (members.texts[member.name] ?? []).elementsEqual(string.utf8)
            case .integer(let integer) where member.name == "id":
                isSame = members.id == ((1...largest).contains(integer) ? UInt64(integer) : 0)
            case .integer(let integer): isSame = members.numbers[member.name] == integer
            case .bool(let bool): isSame = members.isTrue(member.name) == bool
            case .object: isSame = (try? JSON(parsing: members.meta)) == member.value
            case .string, .null, .number, .array: isSame = true
            }
            try demand(isSame, "\(member.name) was scanned as another value than \(member.value)")
        }
    }

    private static let names: Set<String> = [
        "kind", "id", "to", "from", "level", "name", "object", "via", "subscription", "missed", "url", "deadline",
        "parent", "more", "credit", "auth", "code", "message", "ran", "trace", "meta", "retain",
        "retained",
    ]
}
