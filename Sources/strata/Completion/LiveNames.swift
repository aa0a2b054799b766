import ArgumentParser
import StrataCore

/// What a shell offers for an argument: names that a bus which runs right now has.
///
/// Quick and silent: without a bus, or with one that doesn't answer at once, there is
/// nothing to offer.
enum LiveNames {
    /// How long a bus may take for hello, and again for its answer, in milliseconds.
    private static let patience: UInt64 = 500

    static let modules = offering { try $0.modules(patience: patience).map(\.name) }

    static let levels = offering { connection in connection.welcome.levels }

    static let events = offering { try $0.ask("bus/names", patience: patience).texts(in: "events") }

    static let notifications = offering { try $0.ask("bus/names", patience: patience).texts(in: "notifications") }

    /// Of notifications and events.
    static let names = offering { connection in
        let known = try connection.ask("bus/names", patience: patience)
        return Set(known.texts(in: "events") + known.texts(in: "notifications")).sorted()
    }

    /// `Interface/action`; of an interface that takes any action, `Interface/`.
    static let actions = offering { connection in
        try connection.interfaces(patience: patience).flatMap { interface in
            interface.actions.isEmpty
                ? ["\(interface.name)/"] : interface.actions.map { "\(interface.name)/\($0.name)" }
        }
    }

    /// URLs up to their first parameter.
    static let urls = offering { connection in
        let places = try connection.interfaces(patience: patience).flatMap(\.urls).map { url in
            let parts = url.address.split(separator: "/", omittingEmptySubsequences: false)
            let fixed = parts.prefix { !$0.hasPrefix(":") }
            return fixed.joined(separator: "/") + (fixed.count < parts.count ? "/" : "")
        }
        return connection.welcome.schemes.flatMap { scheme in places.map { "\(scheme)://\($0)" } }
    }

    private static func offering(
        _ find: @escaping @Sendable (CommandClient) throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, _ in
            guard let connection = try? BusChoice.connect(socket(in: words), patience: patience) else { return [] }
            return ((try? find(connection)) ?? []).filter(isPlain).map(written)
        }
    }

    /// Whether a shell reads nothing into a name. Bash expands words that are offered
    /// (`compgen -W`): `$(…)` in one would be executed.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-", "/", ":", "+", "@", "%", ",": true
                default: scalar.value >= 0xA0 && scalar.properties.isAlphabetic
                }
            }
    }

    /// zsh takes a bare colon for the end of a name, and what follows for its description.
    private static func written(_ name: String) -> String {
        CompletionShell.requesting == .zsh ? name.replacing(":", with: "\\:") : name
    }

    /// What `--socket` says in a line that is still being typed.
    private static func socket(in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == "--socket", index + 1 < words.count { return unquoted(words[index + 1]) }
            if word.hasPrefix("--socket=") { return unquoted(String(word.dropFirst("--socket=".count))) }
        }
        return nil
    }

    /// A shell's word without its quotes; enough for a path.
    private static func unquoted(_ word: String) -> String {
        var plain = ""
        var isEscaped = false
        for character in word {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                if isEscaped || (character != "\"" && character != "'") { plain.append(character) }
                isEscaped = false
            }
        }
        return plain
    }
}

extension JSON {
    fileprivate func texts(in member: String) -> [String] { self[member]?.array?.compactMap(\.string) ?? [] }
}
