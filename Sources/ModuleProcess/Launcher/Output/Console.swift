import StrataCore

/// What a person sees of an app: the launcher's own lines, and those of its
/// modules, each with its module's name.
public final class Console {
    private let sink: any LineSink
    private let isColoured: Bool
    private var width = 6

    /// - Parameters:
    ///   - sink: where lines go.
    ///   - isColoured: whether names get a colour: on a terminal.
    public init(_ sink: any LineSink, isColoured: Bool) {
        self.sink = sink
        self.isColoured = isColoured
    }

    /// Names are padded to the longest one; a very long one sticks out.
    func align(to names: [String]) {
        width = min(20, names.reduce(6) { max($0, $1.utf8.count) })
    }

    /// What the launcher says, a line or more.
    public func say(_ text: String) {
        for line in Self.lines(text) { write("strata", colour: "1", isApp: true, " ", line) }
    }

    /// What the launcher says about a module, a line or more.
    func say(of name: String, _ text: String) {
        for line in Self.lines(text) { write(name, colour: ModuleColour.code(of: name), " ", line) }
    }

    /// Each but the first is indented: a message may have a module's words in it.
    private static func lines(_ text: String) -> [[UInt8]] {
        Printable.indented(text).split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
    }

    /// A line that a module wrote.
    func line(of name: String, _ bytes: [UInt8]) {
        write(name, colour: ModuleColour.code(of: name), "|", bytes)
    }

    /// A line without a name before it: something to be copied.
    public func plain(_ text: String) { sink.write(line: Array(Printable.line(text).utf8)) }

    private func write(_ name: String, colour: String, isApp: Bool = false, _ mark: String, _ bytes: [UInt8]) {
        sink.write(
            of: isApp ? nil : name, isOutput: mark == "|", bytes,
            line: head(name, colour: colour, mark) + Self.shown(bytes))
    }

    /// A line as a terminal may have it: what a module wrote can't steer that.
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

/// The colour that a module's name has on a terminal, in each command.
public enum ModuleColour {
    private static let codes = ["36", "33", "32", "35", "34", "96", "93", "92", "95", "94"]

    /// What a terminal is told (ECMA-48's SGR). The same name has the same one in each run.
    public static func code(of name: String) -> String {
        let sum = name.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }
        return codes[Int(sum % UInt32(codes.count))]
    }
}
