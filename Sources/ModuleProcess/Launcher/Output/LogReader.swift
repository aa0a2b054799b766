import StrataCore

/// Where somebody who reads modules' lines is. It holds no lines: what gives way in the
/// logs before its turn came is missed, and counted.
struct LogReader {
    /// How many there may be at once.
    static let most = 16

    /// The call that it answers.
    let id: UInt64
    /// Partial replies that its caller takes.
    private var credit: UInt64
    /// Nil for all.
    private let modules: Set<String>?
    private let follows: Bool
    /// By module: the number of the line that comes next.
    private var next: [String: UInt64] = [:]
    /// By module, where it doesn't follow: up to which number.
    private var end: [String: UInt64] = [:]

    /// A line whose turn it is.
    struct Taken {
        var module: String
        var line: OutputLine
        /// Its place among the lines of all modules.
        var place: UInt64
        /// How many of its module gave way just before it.
        var missed: UInt64
    }

    /// - Parameter lines: so many of each module that are there already.
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

    /// The oldest line that it hasn't had, for one credit; nil where there is none.
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

    /// Whether it had all that it wants; never, where it follows.
    func isDone(_ logs: borrowing OutputLogs) -> Bool {
        guard !follows else { return false }
        return !logs.byModule.contains { module, log in
            (modules?.contains(module) ?? true) && max(next[module] ?? 0, log.oldest) < bound(module, log)
        }
    }

    /// How many lines it will not get, where it ends now.
    func missing(_ logs: borrowing OutputLogs) -> UInt64 {
        logs.byModule.reduce(0) { sum, entry in
            guard modules?.contains(entry.key) ?? true else { return sum }
            let (next, end) = (next[entry.key] ?? 0, bound(entry.key, entry.value))
            return sum + (end > next ? end - next : 0)
        }
    }

    /// The module's row is gone; should another come, its lines are counted anew.
    mutating func forget(_ module: String) { (next[module], end[module]) = (nil, nil) }

    private func bound(_ module: String, _ log: OutputLog) -> UInt64 { follows ? log.written : end[module] ?? 0 }
}

/// What a caller of `launcher/logs` may say.
struct LogRequest {
    /// Nil for all.
    private(set) var modules: Set<String>?
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
