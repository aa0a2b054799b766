/// The settings that a session has declared, and which values its module has.
///
/// Values are compared by their digests, so a session costs little memory, and a hand-over passes no
/// further copy of them. A value without I/O.
struct SessionSettings: StatePart {
    private(set) var keys: [SettingKey] = []
    /// The digests of the values that its module has, by key; 0 for none. Empty while that isn't
    /// known: before `setUp`, and after a resumed hello.
    private(set) var held: [UInt64] = []
    /// Those of the last values that it was given, whether it took them or not.
    private(set) var given: [UInt64] = []
    /// Those of the table's values when they were last compared.
    private(set) var current: [UInt64] = []
    /// Whether `module/settings` is open.
    private(set) var isAsked = false

    init() {}

    init(_ keys: [SettingKey]) { self.keys = keys }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &keys)
        try file(2, &held)
        try file(3, &given)
        try file(4, &current)
        try file(5, &isAsked)
    }

    /// Notes the values that `setUp` has.
    mutating func begin(_ values: [UInt64]) { (held, given, current) = (values, values, values) }

    /// Compares the table's values with what the module has.
    /// - Returns: whether the module is to be asked to take them. It then counts as asked.
    mutating func changed(to values: [UInt64]) -> Bool {
        current = values
        guard !isAsked else { return false }
        guard values != held else {
            given = values
            return false
        }
        // What it has refused is offered again only after another change.
        guard values != given else { return false }
        given = values
        isAsked = true
        return true
    }

    /// Notes the answer to `module/settings`: it has taken all values, or none.
    mutating func answered(hasTaken: Bool) {
        isAsked = false
        if hasTaken {
            held = given
        } else if held.isEmpty {
            held = keys.map { _ in 0 }
        }
    }

    /// The keys whose values the module has not taken.
    var pending: [String] {
        guard held.count == current.count, held != current else { return [] }
        return zip(keys, zip(held, current)).filter { $1.0 != $1.1 }.map(\.0.name)
    }
}
