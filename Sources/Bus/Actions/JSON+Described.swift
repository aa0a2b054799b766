import StrataCore

/// What the bus's answers are made of.
extension JSON {
    init(_ number: some BinaryInteger) { self = .integer(Int64(clamping: number)) }

    init(_ texts: [String]) { self = .array(texts.map { .string($0) }) }

    /// An object of those members that there are: `Optional.none` leaves one out, and `nil` is JSON's null.
    static func present(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        .object(members.compactMap { name, value in value.map { JSON.Member(name, $0) } })
    }
}

extension ModuleRecord {
    /// Its process, where it is there.
    var pid: JSON { peer == nil ? .null : JSON(session.pid) }
    /// How it is started.
    var startWord: String { row?.start.rawValue ?? "guest" }
}

extension [String] {
    /// Nil where it is empty.
    var json: JSON? { isEmpty ? Optional.none : JSON(self) }
}

extension String {
    /// Nil where it is empty.
    var json: JSON? { isEmpty ? Optional.none : .string(self) }
}
