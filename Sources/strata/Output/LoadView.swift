import StrataCore
import StrataOperator

/// The text that `strata top` shows about a bus.
enum LoadView {
    /// Returns the lines of one look at the bus: totals, rates, latencies, and a table of modules.
    /// - Parameter before: the previous look, for the rates; nil at the first.
    static func lines(_ now: BusSnapshot, since before: BusSnapshot?, _ painter: Painter) -> [String] {
        let restarts = now.sum(\.restarts)
        var lines = [
            "\(painter.paint(Printable.line(now.welcome.app), .bold))  \(now.ready) of \(now.modules.count) modules "
                + "ready, " + painter.paint("\(restarts) restarts", restarts == 0 ? .dim : .yellow)
        ]
        let rates = BusSnapshot.rates.map { counter in
            let value = now.perSecond(counter, since: before)
            let colour: Colour = value == 0 ? .dim : counter == .errors ? .red : .green
            return "\(painter.paint("\(value)", colour)) \(counter)/s"
        }
        lines.append(rates.joined(separator: "  "))
        let times = now.stats.callTimes
        lines.append(
            times.count == 0
                ? painter.paint("no call has been answered yet", .dim)
                : "calls take p50 \(time(times.p50))  p99 \(time(times.p99))  max \(time(times.max))"
                    + painter.paint("  of \(times.count)", .dim))
        lines.append("")
        var table = Table(columns: [
            .init("MODULE", isFlexible: true), .init("STATE"), .init("PID", isRight: true),
            .init("MEMORY", isRight: true), .init("OPEN", isRight: true), .init("WAITING", isRight: true),
            .init("QUEUED", isRight: true), .init("RESTARTS", isRight: true),
        ])
        for module in now.modules { table.add(row(module)) }
        return lines + table.lines(width: Table.terminalWidth, painter)
    }

    private static func row(_ module: ModuleRow) -> [Table.Cell] {
        [
            .init(module.name, .bold), .init(module.state, .ofState(module.state)),
            .init(module.pid.map { "\($0)" } ?? "–", module.pid == nil ? .dim : .plain),
            .init(module.memory.map(size) ?? "–", module.memory == nil ? .dim : .plain), .count(module.open),
            .count(module.waiting, .yellow), .init(size(UInt64(clamping: module.queued))),
            .count(module.restarts, .yellow),
        ]
    }

    /// Returns a size like `940 B`, `1.5 KiB` or `12 MiB`.
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

    /// Returns a time like `45 µs`, `1.5 ms` or `12.0 s`.
    static func time(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1_000: "\(microseconds) µs"
        case ..<10_000: "\(Double(microseconds / 100) / 10) ms"
        case ..<1_000_000: "\(microseconds / 1_000) ms"
        default: "\(Double(microseconds / 100_000) / 10) s"
        }
    }
}
