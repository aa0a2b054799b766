import StrataCore

/// The position of a reader of modules' lines. It holds no lines: a line that the logs drop before
/// the reader gets it is counted as missed.
struct LogReader {
    /// The most readers at once.
    static let most = 16

    /// The call that the lines answer.
    let id: UInt64
    /// The number of partial replies that the caller still accepts.
    private var credit: UInt64
    /// The modules whose lines are read; nil for all.
    private let modules: Set<String>?
    private let follows: Bool
    /// The number of each module's next line.
    private var next: [String: UInt64] = [:]
    /// The number at which each module's lines end, if the reader doesn't follow.
    private var end: [String: UInt64] = [:]

    /// The next line to send.
    struct Taken {
        var module: String
        var line: OutputLine
        /// Its position among the lines of all modules.
        var place: UInt64
        /// The number of the module's lines that were dropped just before it.
        var missed: UInt64
    }

    /// Creates a reader.
    /// - Parameter lines: The number of each module's earlier lines to read.
    init(
        id: UInt64, credit: UInt64, modules: Set<String>?, lines: UInt64, follows: Bool, _ logs: borrowing OutputLogs
    ) {
        self.id = id
        self.credit = credit
        self.modules = modules
        self.follows = follows
        for (module, log) in logs.byModule where modules?.contains(module) ?? true {
            next[module] = log.written - min(UInt64(log.count), lines)
            end[module] = log.written
        }
    }

    mutating func received(_ more: UInt64) {
        let (sum, overflow) = credit.addingReportingOverflow(more)
        credit = overflow ? .max : sum
    }

    /// Returns the oldest line that the reader hasn't had, for one credit; nil if there is none.
    mutating func take(from logs: borrowing OutputLogs) -> Taken? {
        guard credit > 0 else { return nil }
        var first: (module: String, place: UInt64, number: UInt64)?
        for (module, log) in logs.byModule where modules?.contains(module) ?? true {
            let number = max(next[module] ?? 0, log.oldest)
            guard number < bound(module, log) else { continue }
            let place = log[number].place
            if first.map({ place < $0.place }) ?? true { first = (module, place, number) }
        }
        guard let first, let log = logs.byModule[first.module] else { return nil }
        let missed = first.number - (next[first.module] ?? 0)
        next[first.module] = first.number + 1
        credit -= 1
        let entry = log[first.number]
        return Taken(module: first.module, line: entry.line, place: entry.place, missed: missed)
    }

    /// Whether the reader has had all lines that it asked for. Never true if it follows.
    func isDone(_ logs: borrowing OutputLogs) -> Bool {
        guard !follows else { return false }
        return !logs.byModule.contains { module, log in
            (modules?.contains(module) ?? true) && max(next[module] ?? 0, log.oldest) < bound(module, log)
        }
    }

    /// Returns the number of lines that the reader misses if it ends now.
    func missing(_ logs: borrowing OutputLogs) -> UInt64 {
        logs.byModule.reduce(0) { sum, entry in
            guard modules?.contains(entry.key) ?? true else { return sum }
            let (next, end) = (next[entry.key] ?? 0, bound(entry.key, entry.value))
            return sum + (end > next ? end - next : 0)
        }
    }

    /// Forgets a removed module. If its row returns, its lines are counted from the start.
    mutating func forget(_ module: String) { (next[module], end[module]) = (nil, nil) }

    private func bound(_ module: String, _ log: OutputLog) -> UInt64 { follows ? log.written : end[module] ?? 0 }
}

/// The parameters of `launcher/logs`.
struct LogRequest {
    /// The modules whose lines are wanted; nil for all.
    var modules: Set<String>?
    private(set) var lines = UInt64(OutputLog.mostLines)
    private(set) var follows = false

    init(_ body: [UInt8]) throws(BusError) {
        guard !body.isEmpty else { return }
        guard let json = try? JSON(parsing: body), json.object != nil else { throw Self.problem }
        if let names = json["modules"] {
            guard let list = names.array else { throw Self.problem }
            let texts = list.compactMap(\.string)
            guard texts.count == list.count else { throw Self.problem }
            modules = Set(texts)
        }
        if let count = json["lines"] {
            guard let count = count.integer, count >= 0 else { throw Self.problem }
            lines = UInt64(count)
        }
        if let follow = json["follow"] {
            guard let follow = follow.bool else { throw Self.problem }
            follows = follow
        }
    }

    private static let problem = BusError(
        .badParams,
        "launcher/logs expects {\"modules\"?: [NAME…], \"lines\"?: 0 or more, \"follow\"?: true or false}")
}
