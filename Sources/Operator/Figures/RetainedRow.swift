public import StrataCore

/// A broadcast that the bus keeps for later observers, from `bus/retained`.
public struct RetainedRow {
    /// The bus's number for it, the lower the older.
    public let number: Int64
    /// The notification's name.
    public let name: String
    /// What it is about; nil for none.
    public let object: String?
    /// The module that sent it.
    public let module: String
    /// The bytes of its body.
    public let bytes: Int64
    /// What ends it: `session` or `app`.
    public let until: String
    /// Why its body isn't shown; nil if it is, or wasn't asked for.
    public let omitted: String?
    /// The body; nil if it isn't shown.
    public let body: JSON?
    /// The row as the bus says it.
    public let json: JSON

    public init(_ json: JSON) {
        self.json = json
        number = json["number"]?.integer ?? 0
        name = json["name"]?.string ?? ""
        object = json["object"]?.string
        module = json["module"]?.string ?? ""
        bytes = json["bytes"]?.integer ?? 0
        until = json["until"]?.string ?? ""
        omitted = json["omitted"]?.string
        body = json["body"]
    }

    /// Returns the rows of one answer, and the number from which the next one goes on.
    public static func page(_ answer: JSON) -> (rows: [RetainedRow], next: Int64?) {
        ((answer["retained"]?.array ?? []).map { RetainedRow($0) }, answer["next"]?.integer)
    }

    /// Returns the params for one page of what is retained.
    /// - Parameters:
    ///   - name: A name, or a pattern of names; nil for all.
    ///   - bodies: Whether the answer has the bodies, too.
    ///   - next: The number that the last answer said; nil for the first page.
    public static func params(of name: String?, bodies: Bool, from next: Int64?) -> JSON {
        var members: [JSON.Member] = []
        if let name { members.append(.init(NamePattern.isPattern(name) ? "pattern" : "name", .string(name))) }
        if bodies { members.append(.init("bodies", true)) }
        if let next { members.append(.init("from", .integer(next))) }
        return .object(members)
    }
}
