import ArgumentParser
import StrataCore

/// The manual page in the language of man(7), made from the argument parser's description of the
/// commands.
struct ManualPage {
    private let root: JSON
    private var lines: [String] = []

    /// - Parameter root: the member `command` of `--experimental-dump-help`.
    init(_ root: JSON) {
        self.root = root
        write()
    }

    var text: String { lines.joined(separator: "\n") }

    private mutating func write() {
        let name = root["commandName"]?.string ?? "strata"
        lines = [
            ".\\\" Made by `strata manual`; don't edit.",
            ".TH STRATA 1 \"\" \"\(name) \(RootCommand.version)\" \"Strata\"",
            ".SH NAME", "\(name) \\- \(Roff.text(Self.phrase(root["abstract"]?.string)))", ".SH SYNOPSIS",
            ".B \(name)", "\\fIcommand\\fR [\\fIoptions\\fR]", ".SH DESCRIPTION",
        ]
        lines += Roff.discussion(root["discussion"]?.string ?? "")
        lines.append(".SH COMMANDS")
        for command in root["subcommands"]?.array ?? [] where command["shouldDisplay"]?.bool != false {
            guard let word = command["commandName"]?.string, word != "help" else { continue }
            write(command, name: "\(name) \(word)")
        }
        lines += [
            ".SH ENVIRONMENT", ".TP", ".B STRATA_SOCKET", Roff.line("The bus's socket, if --socket isn't given."),
            ".TP",
            ".B STRATA_ENV", "The app's env, instead of the manifest's.", ".TP", ".B NO_COLOR",
            "Output to a terminal has no colours.", ".SH FILES", ".TP", ".I strata.yaml",
            "The app's manifest, in the current folder.", ".TP",
            ".I $XDG_RUNTIME_DIR/strata/APP.sock", "The bus of an app; without that variable",
            ".IR /tmp/strata\\-UID/APP.sock .",
        ]
    }

    private mutating func write(_ command: JSON, name: String) {
        let arguments = (command["arguments"]?.array ?? []).filter { argument in
            argument["shouldDisplay"]?.bool != false && !Self.isOfAll(argument)
        }
        lines += [".SS \(Roff.text(name))"]
        lines.append("\\fB\(Roff.text(name))\\fR \(arguments.map(Self.usage).joined(separator: " "))")
        lines += [".PP", Roff.line("\(Self.sentence(command["abstract"]?.string))")]
        for argument in arguments {
            lines += [".TP", Self.label(argument), Roff.line(Self.explanation(argument))]
        }
        lines += Roff.discussion(command["discussion"]?.string ?? "")
    }

    /// Whether every command has the argument: `--help` and `--version` are not repeated.
    private static func isOfAll(_ argument: JSON) -> Bool {
        let name = argument["preferredName"]?["name"]?.string
        return name == "help" || name == "version"
    }

    private static func usage(_ argument: JSON) -> String {
        let isOptional = argument["isOptional"]?.bool == true
        let more = argument["isRepeating"]?.bool == true ? "..." : ""
        let dashes = argument["parsingStrategy"]?.string == "postTerminator" ? "\\-\\- " : ""
        let shown = label(argument).split(separator: ", ").last.map(String.init) ?? ""
        return isOptional ? "[\(dashes)\(shown)\(more)]" : dashes + shown + more
    }

    /// Returns a label like `\fB--timeout\fR \fItime\fR`.
    private static func label(_ argument: JSON) -> String {
        let value = Roff.text(argument["valueName"]?.string ?? "value")
        let names = (argument["names"]?.array ?? []).map { name in
            let text = name["name"]?.string ?? ""
            return "\\fB\(Roff.text((name["kind"]?.string == "long" ? "--" : "-") + text))\\fR"
        }
        switch argument["kind"]?.string {
        case "positional": return "\\fI\(value)\\fR"
        case "option": return names.map { "\($0) \\fI\(value)\\fR" }.joined(separator: ", ")
        default: return names.joined(separator: ", ")
        }
    }

    private static func explanation(_ argument: JSON) -> String {
        var parts = [sentence(argument["abstract"]?.string)]
        let values = argument["allValueStrings"]?.array?.compactMap(\.string) ?? []
        if !values.isEmpty { parts.append("One of \(values.joined(separator: ", ")).") }
        if let standard = argument["defaultValue"]?.string { parts.append("Default: \(standard).") }
        return parts.joined(separator: " ")
    }

    private static func sentence(_ text: String?) -> String {
        guard let text, let last = text.last else { return "" }
        return ".!?".contains(last) ? text : "\(text)."
    }

    /// Returns a text without its full stop.
    private static func phrase(_ text: String?) -> String {
        let text = text ?? ""
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}

/// Text for roff, to which a backslash, a hyphen and a line's first character have special
/// meanings.
enum Roff {
    /// Escapes text for the inside of a line.
    static func text(_ text: String) -> String {
        var shown = ""
        for character in text {
            switch character {
            case "\\": shown += "\\e"
            case "-": shown += "\\-"
            case "~": shown += "\\(ti"
            case "^": shown += "\\(ha"
            case "`": shown += "\\(ga"
            case "'": shown += "\\(aq"
            case "\n": shown += " "
            default: shown.append(character)
            }
        }
        return shown
    }

    /// Escapes a whole line, because a dot at its start would be a request.
    static func line(_ text: String) -> String {
        let shown = self.text(text)
        return shown.hasPrefix(".") ? "\\&\(shown)" : shown
    }

    /// Formats a command's discussion: paragraphs, and examples with indented lines.
    static func discussion(_ discussion: String) -> [String] {
        var lines: [String] = []
        for paragraph in paragraphs(discussion) {
            if paragraph.allSatisfy({ $0.hasPrefix("  ") }) {
                lines += [".PP", ".RS 4", ".nf"] + paragraph.map { line(String($0.dropFirst(2))) } + [".fi", ".RE"]
            } else if paragraph == ["EXAMPLE"] {
                lines += [".PP", "Example:"]
            } else {
                lines += [".PP"] + paragraph.map { line(String($0)) }
            }
        }
        return lines
    }

    /// Splits a text into blocks of lines, at empty lines and at changes of indentation.
    private static func paragraphs(_ text: String) -> [[Substring]] {
        var all: [[Substring]] = []
        var current: [Substring] = []
        func isIndented(_ line: Substring) -> Bool { line.hasPrefix("  ") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let ends = line.isEmpty || (current.last.map { isIndented($0) != isIndented(line) } ?? false)
            if ends, !current.isEmpty {
                all.append(current)
                current = []
            }
            if !line.isEmpty { current.append(line) }
        }
        if !current.isEmpty { all.append(current) }
        return all
    }
}

/// `strata manual`: prints the manual page, made from the texts of `--help`.
struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the manual page, for man.",
        discussion: """
            EXAMPLE
              strata manual | man -l -
              strata manual > ~/.local/share/man/man1/strata.1

            The project keeps this page as docs/man/strata.1.
            """)

    func run() throws {
        guard let help = try? JSON(parsing: RootCommand._dumpHelp()), let command = help["command"] else {
            throw Failure(.answer, "the argument parser's description of the commands can't be read")
        }
        StandardOutput.write(line: ManualPage(command).text)
    }
}
