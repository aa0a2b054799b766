internal import StrataCore

/// The members of an object in a document, for a reader that takes the known ones and refuses the
/// others.
struct ReadMembers {
    let path: ValuePath
    let members: [JSON.Member]

    /// - Parameter what: what the object is, for the error: `a contract`.
    init(_ json: JSON, _ path: ValuePath, _ what: String) throws(ContractError) {
        guard let members = json.object else {
            throw ContractError(path, "\(what) is an object; found \(Words.value(json))")
        }
        self.path = path
        self.members = members
    }

    /// Refuses members that aren't among these names.
    func refuse(except known: [String], of what: String) throws(ContractError) {
        guard let unknown = members.first(where: { !known.contains($0.name) }) else { return }
        let nearest = nearestNames(to: unknown.name, in: known)
        let hint =
            nearest.isEmpty
            ? "\(what) has \(Words.list(known, last: "and"))"
            : "did you mean \(Words.list(nearest))?"
        throw ContractError(path, "there is no member \(Words.quoted(unknown.name)): \(hint)")
    }

    subscript(_ name: String) -> JSON? { members.first { $0.name == name }?.value }

    func string(_ name: String) throws(ContractError) -> String? {
        guard let value = self[name] else { return nil }
        guard let string = value.string else { throw wrong(name, "a string", value) }
        return string
    }

    func bool(_ name: String) throws(ContractError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let bool = value.bool else { throw wrong(name, "true or false", value) }
        return bool
    }

    func array(_ name: String) throws(ContractError) -> [JSON]? {
        guard let value = self[name] else { return nil }
        guard let array = value.array else { throw wrong(name, "an array", value) }
        return array
    }

    /// Returns an integer of 64 bits.
    func integer(_ name: String) throws(ContractError) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let integer = value.integer else { throw wrong(name, "an integer of 64 bits", value) }
        return integer
    }

    /// Returns a length or a count.
    func count(_ name: String) throws(ContractError) -> Int? {
        guard let integer = try integer(name) else { return nil }
        guard integer >= 0 else { throw wrong(name, "0 or more", .integer(integer)) }
        return Int(integer)
    }

    /// Returns a number that a double holds exactly.
    func number(_ name: String) throws(ContractError) -> Double? {
        guard let value = self[name] else { return nil }
        switch value {
        case .number(let number): return number
        case .integer(let integer):
            if let number = Double(exactly: integer) { return number }
            throw wrong(name, "a number that a double holds exactly", value)
        default: throw wrong(name, "a number", value)
        }
    }

    /// Returns the error for a member of a wrong kind.
    func wrong(_ name: String, _ expected: String, _ value: JSON) -> ContractError {
        ContractError(path.member(name), "expected \(expected), found \(Words.value(value))")
    }
}
