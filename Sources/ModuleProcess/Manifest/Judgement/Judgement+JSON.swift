public import StrataCore

/// Judgements for programs.
extension Judgement {
    /// The judgement with the members of `strata why --json`.
    public var json: JSON {
        var members: [JSON.Member] = [
            .init("subject", .string(subject)), .init("allowed", .bool(isAllowed)),
        ]
        if let code { members.append(.init("code", .string(code.rawValue))) }
        members.append(.init("checks", .array(checks.map(\.json))))
        if !recipients.isEmpty { members.append(.init("recipients", .array(recipients.map(\.json)))) }
        members.append(.init("changes", .array(changes.map { .array($0.map { .string($0) }) })))
        return .object(members)
    }
}

extension Judgement.Check {
    fileprivate var json: JSON {
        .object(
            [
                .init("check", .string(name)), .init("result", .string(result.rawValue)),
                .init("reason", .string(reason)),
            ] + (place?.placeMembers ?? []))
    }
}

extension Judgement.Recipient {
    fileprivate var json: JSON {
        .object(
            [
                .init("module", .string(module)), .init("level", .string(level)), .init("gets", .bool(gets)),
                .init("reason", .string(reason)),
            ] + (place?.placeMembers ?? []))
    }
}

extension ManifestError {
    /// The members that say where it is: file, line, column and key.
    public var placeMembers: [JSON.Member] {
        var members = [JSON.Member("file", .string(file))]
        if let line { members.append(.init("line", .integer(Int64(line)))) }
        if let column { members.append(.init("column", .integer(Int64(column)))) }
        members.append(.init("key", .string(key)))
        return members
    }
}
