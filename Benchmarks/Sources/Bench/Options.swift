/// What the command line asks for.
struct Options {
    enum Mode {
        case speed(isQuick: Bool)
        /// Of the kinds of abuse the named one alone, where one is named.
        case overload(isQuick: Bool, only: String?)
        case instructions(InstructionReport.Use)
        case profile(String?)
        case monitor(isQuick: Bool)
        case nodes(isQuick: Bool)
        /// Bodies in memory files.
        case files
        case replicas(isQuick: Bool)
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
        var isOverload = false
        var isMonitor = false
        var isNodes = false
        var isFiles = false
        var isReplicas = false
        var isQuick = false
        var only: String?
        while let word = words.popFirst() {
            switch word {
            case "--quick": isQuick = true
            case "--overload": isOverload = true
            case "--monitor": isMonitor = true
            case "--nodes": isNodes = true
            case "--files": isFiles = true
            case "--replicas": isReplicas = true
            case "--only": only = words.popFirst()
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
        if isOverload {
            mode = .overload(isQuick: isQuick, only: only)
        } else if isQuick {
            mode = .speed(isQuick: true)
        }
        if isNodes { mode = .nodes(isQuick: isQuick) }
        if isFiles { mode = .files }
        if isReplicas { mode = .replicas(isQuick: isQuick) }
        if isMonitor { mode = .monitor(isQuick: isQuick) }
        if isProfile { mode = .profile(file) }
    }
}
