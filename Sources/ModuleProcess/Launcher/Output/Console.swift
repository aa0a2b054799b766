import StrataCore
import StrataOperator

/// The output of an app for people: the launcher's own lines, and those of its modules, each with
/// its module's name.
public final class Console {
    private let sink: any LineSink
    private let isColoured: Bool
    private var width = 6

    /// Creates a console.
    /// - Parameters:
    ///   - sink: The destination of the lines.
    ///   - isColoured: Whether names are coloured, as on a terminal.
    public init(_ sink: any LineSink, isColoured: Bool) {
        self.sink = sink
        self.isColoured = isColoured
    }

    /// Pads names to the longest one, up to 20 bytes; a longer one sticks out.
    func align(to names: [String]) {
        width = min(20, names.reduce(6) { max($0, $1.utf8.count) })
    }

    /// Writes a message of the launcher, of one or more lines.
    public func say(_ text: String) {
        for line in Self.lines(text) { write("strata", colour: "1", isApp: true, " ", line) }
    }

    /// Writes a message of the launcher about a module, of one or more lines.
    func say(of name: String, _ text: String) {
        for line in Self.lines(text) { write(name, colour: ModuleColour.code(of: name), " ", line) }
    }

    /// Each line but the first is indented, because a message may quote a module.
    private static func lines(_ text: String) -> [[UInt8]] {
        Printable.indented(text).split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
    }

    /// Writes a line of a module's output.
    func line(of name: String, _ bytes: [UInt8], _ severity: Severity = .info) {
        write(name, colour: ModuleColour.code(of: name), "|", bytes, severity)
    }

    /// Writes a line without a name before it, to be copied.
    public func plain(_ text: String) { sink.write(line: Array(Printable.line(text).utf8)) }

    private func write(
        _ name: String, colour: String, isApp: Bool = false, _ mark: String, _ bytes: [UInt8],
        _ severity: Severity = .info
    ) {
        sink.write(
            of: isApp ? nil : name, isOutput: mark == "|", severity, bytes,
            line: head(name, colour: colour, self.mark(mark, severity)) + Self.shown(bytes))
    }

    /// The mark, in the colour of a warning or an error.
    private func mark(_ mark: String, _ severity: Severity) -> String {
        guard isColoured, severity <= .warning else { return mark }
        return "\u{1B}[\(severity == .warning ? "33" : "31")m\(mark)\u{1B}[0m"
    }

    /// Returns the line without anything that could control the terminal.
    private static func shown(_ line: [UInt8]) -> [UInt8] {
        guard line.contains(where: { !(0x20...0x7E).contains($0) }) else { return line }
        return Array(Printable.output(String(decoding: line, as: UTF8.self)).utf8)
    }

    private func head(_ name: String, colour: String, _ mark: String) -> [UInt8] {
        let padding = String(repeating: " ", count: max(0, width - name.utf8.count))
        return Array(
            (isColoured ? "\u{1B}[\(colour)m\(name)\(padding)\u{1B}[0m \(mark) " : "\(name)\(padding) \(mark) ").utf8)
    }
}

/// The colour of a module's name on a terminal, the same in each command.
public enum ModuleColour {
    private static let codes = ["36", "33", "32", "35", "34", "96", "93", "92", "95", "94"]

    /// Returns the ECMA-48 SGR code. A name has the same colour in each run.
    public static func code(of name: String) -> String {
        let sum = name.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }
        return codes[Int(sum % UInt32(codes.count))]
    }
}
