import LogInterface
import Strata

/// Writes what the other modules report: to a file, and to its own output,
/// where the app's terminal shows it.
@main
final class LogModule: Module {
    static let name = "Log"
    /// Lines that `Log/recent` knows.
    private static let mostRecent = 200
    /// Those that it goes on knowing where memory is short.
    private static let fewRecent = 20

    private let bus: Bus
    private var recent: [String] = []
    private let echo = PropertyValue(true)

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.settings(LogSettings.self)
        exports.settingsChanged(LogSettings.self) { _ in }  // each line asks for the file
        exports.action(Log.Recent.self) { Array(self.recent.suffix(max(0, $0.limit ?? 20))) }
        exports.property(Log.Echo.self, from: echo)
        exports.event("app.memoryPressure") { _ in self.recent = self.recent.suffix(Self.fewRecent) }
        // A module may report a kind of line that this one has never heard of.
        exports.observe("log.*") { try await self.write($0) }
    }

    /// Who reported it waits until this has returned: then it is in the file.
    private func write(_ report: Delivery) async throws {
        // One line stays one, whatever it says.
        let text = try report.decode(LogLine.self).text.split(whereSeparator: \.isNewline).joined(separator: " ")
        let kind = report.name == LogLine.name ? "" : "\(report.name.dropFirst("log.".count)): "
        let line = "\(Timestamp.now()) \(report.from): \(kind)\(text)"
        if echo.value { print(line) }
        recent.append(line)
        if recent.count > Self.mostRecent { recent.removeFirst() }
        let file = LogFile(path: bus.settings(as: LogSettings.self).file)
        try await blocking(label: "file") { try file.append(line) }
    }
}
