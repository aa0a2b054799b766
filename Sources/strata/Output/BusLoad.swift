import StrataCore

/// What a bus does and holds at a moment, as `strata top` shows it.
struct BusLoad {
    private static let rates: [(counter: String, title: String)] = [
        ("calls", "calls"), ("errors", "errors"), ("broadcasts", "broadcasts"), ("notices", "notices"),
        ("reports", "reports"),
    ]

    private let app: String
    private let modules: [JSON]
    private let stats: JSON
    private let time: UInt64
    private let memory: [UInt64?]

    /// - Parameters:
    ///   - modules: those of `bus/modules`.
    ///   - stats: the answer of `bus/stats`.
    ///   - time: the clock, in nanoseconds.
    init(app: String, modules: [JSON], stats: JSON, at time: UInt64) {
        self.app = app
        self.modules = modules
        self.stats = stats
        self.time = time
        memory = modules.map { module in
            Int32(clamping: module["pid"]?.integer ?? 0).memoryOfProcess
        }
    }

    private func counter(_ name: String) -> Int64 { stats["counters"]?[name]?.integer ?? 0 }
    private func microseconds(_ name: String) -> Int64 { stats["callMicroseconds"]?[name]?.integer ?? 0 }

    /// How much of a counter there was in a second since then; 0 where nothing was
    /// seen before. A broker that was started again begins anew.
    private func rate(_ name: String, since before: BusLoad?) -> Int64 {
        guard let before, time > before.time else { return 0 }
        let more = counter(name) - before.counter(name)
        guard more > 0 else { return 0 }
        return Int64((Double(more) * 1e9 / Double(time - before.time)).rounded())
    }

    private func sum(_ member: String) -> Int64 { modules.reduce(0) { $0 + ($1[member]?.integer ?? 0) } }
    private var ready: Int { modules.count { $0["state"]?.string == "ready" } }

    func json(since before: BusLoad?) -> JSON {
        var members: [JSON.Member] = [
            .init("app", .string(app)), .init("modules", .integer(Int64(modules.count))),
            .init("ready", .integer(Int64(ready))),
        ]
        members += Self.rates.map { .init("\($0.title)PerSecond", .integer(rate($0.counter, since: before))) }
        members += Self.rates.map { .init($0.title, .integer(counter($0.counter))) }
        members += ["p50", "p99", "max"].map { .init("\($0)Microseconds", .integer(microseconds($0))) }
        members += ["open", "waiting", "queued", "restarts"].map { .init($0, .integer(sum($0))) }
        members.append(
            .init(
                "memory",
                .object(
                    zip(modules, memory).compactMap { module, memory in
                        memory.map { .init(module["name"]?.string ?? "?", .integer(Int64($0))) }
                    })))
        return .object(members)
    }

    func lines(since before: BusLoad?, _ painter: Painter) -> [String] {
        let restarts = sum("restarts")
        var lines = [
            "\(painter.paint(Printable.line(app), .bold))  \(ready) of \(modules.count) modules ready, "
                + painter.paint("\(restarts) restarts", restarts == 0 ? .dim : .yellow)
        ]
        let rates = Self.rates.map { title, name in
            let value = rate(title, since: before)
            let colour: Colour = value == 0 ? .dim : name == "errors" ? .red : .green
            return "\(painter.paint("\(value)", colour)) \(name)/s"
        }
        lines.append(rates.joined(separator: "  "))
        lines.append(
            microseconds("count") == 0
                ? painter.paint("no call has been answered yet", .dim)
                : "calls take p50 \(Self.time(microseconds("p50")))  p99 \(Self.time(microseconds("p99")))  "
                    + "max \(Self.time(microseconds("max")))" + painter.paint("  of \(microseconds("count"))", .dim))
        lines.append("")
        var table = Table(columns: [
            .init("MODULE", isFlexible: true), .init("STATE"), .init("PID", isRight: true),
            .init("MEMORY", isRight: true), .init("OPEN", isRight: true), .init("WAITING", isRight: true),
            .init("QUEUED", isRight: true), .init("RESTARTS", isRight: true),
        ])
        for (module, memory) in zip(modules, memory) { table.add(Self.row(module, memory)) }
        return lines + table.lines(width: Table.terminalWidth, painter)
    }

    private static func row(_ module: JSON, _ memory: UInt64?) -> [Table.Cell] {
        let state = module["state"]?.string ?? "?"
        let pid = module["pid"]?.integer ?? 0
        func count(_ member: String, _ colour: Colour = .plain) -> Table.Cell {
            let value = module[member]?.integer ?? 0
            return .init("\(value)", value == 0 ? .dim : colour)
        }
        return [
            .init(module["name"]?.string ?? "?", .bold), .init(state, .ofState(state)),
            .init(pid > 0 ? "\(pid)" : "–", pid > 0 ? .plain : .dim),
            .init(memory.map(Self.size) ?? "–", memory == nil ? .dim : .plain), count("open"),
            count("waiting", .yellow), .init(size(UInt64(clamping: module["queued"]?.integer ?? 0))),
            count("restarts", .yellow),
        ]
    }

    /// `940 B`, `1.5 KiB`, `12 MiB`.
    static func size(_ bytes: UInt64) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var (value, unit) = (Double(bytes), 0)
        while value >= 1_024, unit < units.count - 1 {
            value /= 1_024
            unit += 1
        }
        if unit == 0 || value >= 10 { return "\(Int(value)) \(units[unit])" }
        return "\(Double(Int(value * 10)) / 10) \(units[unit])"
    }

    /// `45 µs`, `1.5 ms`, `12 s`.
    static func time(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1_000: "\(microseconds) µs"
        case ..<10_000: "\(Double(microseconds / 100) / 10) ms"
        case ..<1_000_000: "\(microseconds / 1_000) ms"
        default: "\(Double(microseconds / 100_000) / 10) s"
        }
    }
}

extension Int32 {
    /// The memory of a process of this machine by its number; nil where it can't be
    /// told.
    fileprivate var memoryOfProcess: UInt64? { self > 0 ? ProcessFiles.memory(of: self) : nil }
}
