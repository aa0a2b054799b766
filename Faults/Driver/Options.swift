internal import FaultRecord

/// The options from the command line.
struct Options {
    /// The seconds in which harm is done.
    private(set) var seconds = 30
    private(set) var seed: UInt64
    /// Whether to show only the final table, and not each fault.
    private(set) var isQuiet = false
    /// The folder to which the logs are copied at the end; nil to remove them.
    private(set) var kept: String?
    private(set) var strata = ""
    /// The number of nodes of the app; 1 for an app of one machine.
    private(set) var nodes = 1
    /// Whether notices that are missing since two nodes were parted count as violations.
    private(set) var judgesPartings = true

    init(_ words: some Sequence<String>) throws {
        seed = UInt64.random(in: 1...999_999)
        var words = Array(words)[...]
        while let word = words.popFirst() {
            switch word {
            case "--seconds": seconds = try Self.number(words.popFirst(), of: word, from: 5, to: 3_600)
            case "--seed": seed = UInt64(try Self.number(words.popFirst(), of: word, from: 0, to: .max))
            case "--quiet": isQuiet = true
            case "--keep": kept = words.popFirst()
            case "--nodes": nodes = try Self.number(words.popFirst(), of: word, from: 1, to: RolePlacement.most)
            case "--forgive-lost-nodes": judgesPartings = false
            case "--strata": strata = words.popFirst() ?? ""
            default: throw RunFailure("unknown option \(word): see scripts/faults")
            }
        }
    }

    private static func number(_ word: String?, of option: String, from: Int, to: Int) throws -> Int {
        guard let word, let number = Int(word), number >= from, number <= to else {
            throw RunFailure("\(option) wants a number from \(from) to \(to), and got \(word ?? "nothing")")
        }
        return number
    }
}
