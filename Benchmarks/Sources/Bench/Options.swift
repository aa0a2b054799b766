/// What the command line asks for.
struct Options {
    enum Mode {
        case speed(isQuick: Bool)
        case instructions(InstructionReport.Use)
        case profile(String?)
    }

    private(set) var mode = Mode.speed(isQuick: false)
    private(set) var broker = ""
    /// The folder Benchmarks.
    private(set) var folder = "."
    /// Where the results go as JSON, where that was said.
    private(set) var file: String?

    init(_ words: some Sequence<String>) throws {
        var words = Array(words)[...]
        var isProfile = false
        while let word = words.popFirst() {
            switch word {
            case "--quick": mode = .speed(isQuick: true)
            case "--instructions": mode = .instructions(.print)
            case "--check": mode = .instructions(.check)
            case "--accept": mode = .instructions(.accept)
            case "--profile": isProfile = true
            case "--broker": broker = words.popFirst() ?? ""
            case "--folder": folder = words.popFirst() ?? "."
            case _ where word.hasPrefix("-"): throw Failure("unknown option \(word): see scripts/bench")
            default: file = word
            }
        }
        if isProfile { mode = .profile(file) }
    }
}
