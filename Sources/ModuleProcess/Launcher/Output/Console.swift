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

    /// A line of the launcher itself.
    public func say(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            write("strata", colour: "1", isApp: true, " ", Array(line.utf8))
        }
    }

    /// A line of the launcher about a module.
    func say(of name: String, _ text: String) {
        write(name, colour: ModuleColour.code(of: name), " ", Array(text.utf8))
    }

    /// A line that a module wrote.
    func line(of name: String, _ bytes: [UInt8]) {
        write(name, colour: ModuleColour.code(of: name), "|", bytes)
    }

    /// A line without a name before it: something to be copied.
    public func plain(_ text: String) { sink.write(line: Array(text.utf8)) }

    private func write(_ name: String, colour: String, isApp: Bool = false, _ mark: String, _ bytes: [UInt8]) {
        sink.write(
            of: isApp ? nil : name, isOutput: mark == "|", bytes, line: head(name, colour: colour, mark) + bytes)
    }

    private func head(_ name: String, colour: String, _ mark: String) -> [UInt8] {
        let padding = String(repeating: " ", count: max(0, width - name.utf8.count))
        return Array(
            (isColoured ? "\u{1B}[\(colour)m\(name)\(padding)\u{1B}[0m \(mark) " : "\(name)\(padding) \(mark) ").utf8)
    }
}
