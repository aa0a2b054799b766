import StrataCore

/// The versions that a session's hello says of what it provides and requires.
struct SimulatedVersions {
    /// Of its own interface; nil for none.
    private(set) var provided: ContractVersion?
    /// Of other rows' interfaces, by the rows' places.
    private(set) var required: [Int: ContractVersion] = [:]

    /// - Parameter number: the session's number, from which the versions follow.
    init(_ number: Int, in app: SimulatedApp) {
        guard app.hasVersions else { return }
        var numbers = SeededGenerator(number)
        provided = Self.provided[numbers.below(Self.provided.count)]
        for place in app.modules.indices { required[place] = Self.required[numbers.below(Self.required.count)] }
    }

    // Most of them fit.
    private static let provided: [ContractVersion?] = [nil, "1.0", "1.1", "1.1", "1.2", "1.2", "1.2", "2.0"]
    private static let required: [ContractVersion?] = [nil, nil, nil, nil, "1.0", "1.0", "1.0", "1.1", "1.1", "2.0"]

    /// The member of its interface in hello, with a comma.
    var provides: String { provided.map { #""version":"\#($0)","# } ?? "" }

    /// The elements of `requires` in hello.
    var requires: String {
        required.sorted { $0.key < $1.key }.map { #""\#(SimulatedApp.interface($0))@\#($1)""# }.joined(separator: ",")
    }

    /// Returns one of the versions that rows require; nil for none.
    static func ofRow(_ numbers: inout SeededGenerator) -> ContractVersion? {
        numbers.chance(1, in: 6) ? required[numbers.below(required.count)] : nil
    }
}

extension SimulatedApp {
    /// Turns the comparison of versions on or off, and chooses what rows say about it.
    static func compareVersions(_ table: inout AppTable, _ numbers: inout SeededGenerator) {
        table.contracts = numbers.chance(2, in: 3) ? .enforced : .off
        for place in table.modules.indices {
            table.modules[place].contracts = numbers.chance(1, in: 6) ? .off : nil
            for index in table.modules[place].requires.indices {
                table.modules[place].requires[index].version = SimulatedVersions.ofRow(&numbers)
            }
        }
    }
}
