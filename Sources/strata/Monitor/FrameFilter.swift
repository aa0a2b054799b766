import ArgumentParser
import StrataCore
import StrataOperator

/// The frames that a monitor shows. A frame must match each option that was given. It matches an
/// option if it matches any of its values.
struct FrameFilter: ParsableArguments {
    @Option(
        help: "Only frames from or to this module; repeat it, or use commas, for several.",
        completion: LiveNames.modules)
    var module: [String] = []

    @Option(
        help: "Only notifications and events of this name; note.* for all that begin with note.",
        completion: LiveNames.names)
    var name: [String] = []

    @Option(
        help: "Only frames of this kind: call, open, reply, error, broadcast, report, notice.",
        completion: .list(FrameFilter.kinds))
    var kind: [String] = []

    @Option(help: "Only frames that this module sent.", completion: LiveNames.modules)
    var from: [String] = []

    @Option(help: "Only frames that this module receives.", completion: LiveNames.modules)
    var to: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only calls of this action, and their answers; Interface/* or Interface for all of its actions.",
            valueName: "interface/action"),
        completion: LiveNames.actions)
    var action: [String] = []

    @Flag(help: "Only errors and refused requests.")
    var errors = false

    /// The kinds, by the bus's names for them.
    static let kinds = ["call", "open", "reply", "error", "broadcast", "report", "notice"]

    mutating func validate() throws {
        func split(_ values: [String]) -> [String] { values.flatMap { $0.split(separator: ",").map(String.init) } }
        (module, kind, from, to, action) = (split(module), split(kind), split(from), split(to), split(action))
        for one in kind where !Self.kinds.contains(one) {
            let near = nearestNames(to: one, in: Self.kinds)
            throw ValidationError(
                "--kind is one of \(Self.kinds.joined(separator: ", ")), not \(one)."
                    + (near.isEmpty ? "" : " Did you mean \(near.joined(separator: " or "))?"))
        }
        for one in name where !(1...256).contains(one.utf8.count) {
            throw ValidationError("--name has 1 to 256 bytes; this one has \(one.utf8.count).")
        }
    }

    /// The part of the filter that the bus can apply: one module and one name. Then the bus
    /// counts only such frames as missed.
    var params: [JSON.Member] {
        var params: [JSON.Member] = []
        if module.count == 1 { params.append(.init("module", .string(module[0]))) }
        if name.count == 1, !Glob.isOne(name[0]) { params.append(.init("name", .string(name[0]))) }
        return params
    }

    /// The further part of the filter that the bus applies before it chooses `--most` frames. Calls
    /// come along with answers, because they say which action is answered.
    var choice: [JSON.Member] {
        var choice: [JSON.Member] = []
        if errors, action.isEmpty { choice.append(.init("errors", true)) }
        if !kind.isEmpty {
            let needsCalls = !errors && !kind.contains("call") && (kind.contains("reply") || kind.contains("error"))
            choice.append(.init("kinds", .array((kind + (needsCalls ? ["call"] : [])).map { .string($0) })))
        }
        return choice
    }

    /// The modules that the filter names.
    var modules: [String] { module + from + to }

    func wants(_ frame: SeenFrame) -> Bool {
        if errors, frame.code.isEmpty { return false }
        if !kind.isEmpty, !kind.contains(frame.kind) { return false }
        if !from.isEmpty, !from.contains(frame.from) { return false }
        if !to.isEmpty, !to.contains(frame.receiver) { return false }
        // The bus itself filters for a single module, because it knows more about refused
        // requests.
        if module.count > 1, !module.contains(frame.from), !module.contains(frame.receiver) { return false }
        if !name.isEmpty, frame.name.isEmpty || !name.contains(where: { Glob($0).matches(frame.name) }) { return false }
        return action.isEmpty || (!frame.action.isEmpty && action.contains { Self.fits($0, frame.plainAction) })
    }

    private static func fits(_ wanted: String, _ action: String) -> Bool {
        let pattern = wanted.contains("/") ? wanted : wanted + "/*"
        return Glob(pattern).matches(action)
    }

    /// The frames that the filter shows, in words.
    var summary: String {
        func list(_ values: [String]) -> String { values.joined(separator: " or ") }
        var parts: [String] = []
        if !module.isEmpty { parts.append("from or to \(list(module))") }
        if !from.isEmpty { parts.append("from \(list(from))") }
        if !to.isEmpty { parts.append("to \(list(to))") }
        if !kind.isEmpty { parts.append("of kind \(list(kind))") }
        if !name.isEmpty { parts.append("named \(list(name))") }
        if !action.isEmpty { parts.append("of \(list(action))") }
        if errors { parts.append("that are errors or refused") }
        return parts.isEmpty ? "all frames" : "frames " + parts.joined(separator: ", ")
    }
}

/// A pattern for names: `*` stands for any characters, `?` for one.
struct Glob {
    private let pattern: [Character]

    init(_ pattern: String) { self.pattern = Array(pattern) }

    /// Whether a text has `*` or `?` in it.
    static func isOne(_ text: String) -> Bool { text.contains { $0 == "*" || $0 == "?" } }

    /// Matches in time proportional to the product of both lengths, because only the last `*` is
    /// tried again.
    func matches(_ text: String) -> Bool {
        let text = Array(text)
        var (place, at) = (0, 0)
        var star: (place: Int, at: Int)?
        while at < text.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[at] {
                place += 1
                at += 1
            } else if let last = star {
                (place, at) = (last.place + 1, last.at + 1)
                star = (last.place, last.at + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
