/// How serious a line of a module's output is: the levels of syslog, 0 being the most serious.
public enum Severity: Int, Sendable, CaseIterable, Comparable {
    case emergency, alert, critical, error, warning, notice, info, debug

    /// The level's name, such as `warning`.
    public var name: String { "\(self)" }

    /// - Parameter name: a level's name; `trace` counts as `debug`.
    public init?(name: String) {
        guard let found = name == "trace" ? .debug : Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// More serious comes first.
    public static func < (one: Severity, other: Severity) -> Bool { one.rawValue < other.rawValue }

    /// Takes the mark `<4>` from the begin of a line, as sd-daemon(3) defines it.
    /// - Returns: the severity, nil without a mark, and the rest of the line.
    public static func split(_ line: [UInt8]) -> (severity: Severity?, text: [UInt8]) {
        guard line.count >= 3, line[0] == UInt8(ascii: "<"), line[2] == UInt8(ascii: ">"),
            let severity = Severity(rawValue: Int(line[1]) - Int(UInt8(ascii: "0")))
        else { return (nil, line) }
        return (severity, Array(line.dropFirst(3)))
    }
}
