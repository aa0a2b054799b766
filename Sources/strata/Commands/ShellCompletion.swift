import ArgumentParser
import StrataCore

/// `strata completions`: what a shell is to know of this program.
struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the completions for a shell.",
        discussion: """
            EXAMPLE
              source <(strata completions bash)                     in ~/.bashrc
              strata completions zsh > ~/.zfunc/_strata             a folder of $fpath
              strata completions fish > ~/.config/fish/completions/strata.fish

            Modules, actions, URLs, events and levels are completed from the bus that runs.
            """)

    /// Those that the argument parser writes for.
    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
        guard let known = CompletionShell(rawValue: shell.rawValue) else {
            throw Failure(.usage, "there are no completions for \(shell.rawValue)")
        }
        let script = RootCommand.completionScript(for: known)
        switch shell {
        case .bash: StandardOutput.write(line: BashColons.joined(script))
        case .zsh: StandardOutput.write(line: script)
        case .fish: StandardOutput.write(line: Self.knowingACursor(script))
        }
    }

    /// A program that asks fish for completions has no cursor, and fish refuses to tell its
    /// place: then any does.
    private static func knowingACursor(_ script: String) -> String {
        script.replacing("(__strata_tokens -tC)", with: "(__strata_tokens -tC 2>/dev/null; or echo 0)")
    }
}

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

/// Bash takes a colon for the end of a word, and a URL has one: the argument parser's
/// script would see three words. This puts them together before it is asked, and takes
/// off what bash has already.
enum BashColons {
    private static let registration = "complete -o filenames -F _strata strata"

    /// The parser's script, behind a function that joins.
    static func joined(_ script: String) -> String {
        guard let place = script.firstRange(of: registration) else { return script }
        return script[..<place.lowerBound] + wrapper + script[place.upperBound...]
    }

    private static let wrapper = #"""
        _strata_joining_colons() {
            local -a words=()
            local -i index number=-1 current=0
            for index in "${!COMP_WORDS[@]}"; do
                if [[ ${number} -ge 0 && (${COMP_WORDS[index]} == :* || ${words[number]} == *:) ]]; then
                    words[number]+=${COMP_WORDS[index]}
                else
                    words[++number]=${COMP_WORDS[index]}
                fi
                [[ ${index} -eq ${COMP_CWORD} ]] && current=${number}
            done
            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD=${current}
            local word=${COMP_WORDS[COMP_CWORD]}
            _strata "${1}" "${word}" "${COMP_WORDS[COMP_CWORD - 1]}"
            local before=${word%"${word##*:}"}
            for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]=${COMPREPLY[index]#"${before}"}; done
        }

        complete -o filenames -F _strata_joining_colons strata
        """#
}
