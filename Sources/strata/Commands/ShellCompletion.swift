import ArgumentParser
import StrataContracts
import StrataCore
import StrataStubs

/// `strata completions`: prints the completions of this program for a shell.
struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the completions for a shell.",
        discussion: """
            EXAMPLE
              source <(strata completions bash)                     in ~/.bashrc
              strata completions zsh > ~/.zfunc/_strata             a folder of $fpath
              strata completions fish > ~/.config/fish/completions/strata.fish

            Modules, actions, URLs, events, nodes and levels are completed from the running bus.
            """)

    /// The shells that the argument parser writes completions for.
    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
        guard let known = CompletionShell(rawValue: shell.rawValue) else {
            throw Failure(.usage, "there are no completions for \(shell.rawValue)")
        }
        let script = RootCommand.completionScript(for: known)
        switch shell {
        case .bash: StandardOutput.write(line: BashWords.joined(script))
        case .zsh: StandardOutput.write(line: script)
        case .fish: StandardOutput.write(line: Self.knowingACursor(script))
        }
    }

    /// A program that asks fish for completions has no cursor, and fish then fails to report its
    /// position. In that case any position will do.
    private static func knowingACursor(_ script: String) -> String {
        script.replacing("(__strata_tokens -tC)", with: "(__strata_tokens -tC 2>/dev/null; or echo 0)")
    }
}

/// The completions for an argument: names from a bus that runs right now.
///
/// It is quick and silent. Without a bus, or if the bus doesn't answer at once, it offers
/// nothing.
enum LiveNames {
    /// How long a bus may take to answer hello, and again to answer the question, in
    /// milliseconds.
    private static let patience: UInt64 = 500

    static let modules = offering { try $0.modules(patience: patience).map(\.name) }

    static let nodes = offering { try $0.nodes(patience: patience).map(\.name) }

    static let levels = offering { connection in connection.welcome.levels }

    static let events = offering { try $0.ask("bus/names", patience: patience).texts(in: "events") }

    static let notifications = offering { try $0.ask("bus/names", patience: patience).texts(in: "notifications") }

    /// The names of notifications and events.
    static let names = offering { connection in
        let known = try connection.ask("bus/names", patience: patience)
        return Set(known.texts(in: "events") + known.texts(in: "notifications")).sorted()
    }

    /// Actions as `Interface/action`; `Interface/` for an interface that takes any action.
    static let actions = offering { connection in
        try connection.interfaces(patience: patience).flatMap { interface in
            interface.actions.isEmpty
                ? ["\(interface.name)/"] : interface.actions.map { "\(interface.name)/\($0.name)" }
        }
    }

    /// The properties that can be set, by the names of the actions that do it.
    static let settableProperties = offering { connection in
        try connection.interfaces(patience: patience).flatMap { interface in
            PropertyAddress.settableProperties(of: interface).map { "\(interface.name)/\($0)" }
        }
    }

    /// The params of the action that the line calls: `key=` if the line doesn't have the key yet, and
    /// `key=value` if the action's contract lists the values.
    static let params = CompletionKind.custom { words, _, _ in
        guard
            let destination = words.drop(while: { $0 != "call" }).first(where: {
                $0.contains("/") && !$0.hasPrefix("-")
            }),
            let connection = try? choice(in: words).connect(patience: patience),
            let (contract, action) = ContractSource.contract(ofAction: destination, connection),
            let members = contract.action(action)?.params?.members(in: contract)
        else { return [] }
        return members.properties.filter { isPlain($0.name) }.flatMap { property -> [String] in
            let start = "\(property.name)="
            // The last word is the one that is being typed.
            guard !words.dropLast().contains(where: { $0.hasPrefix(start) }) else { return [] }
            guard words.last?.hasPrefix(start) == true else { return [start] }
            return property.schema.values(in: contract).filter(isPlain).map { start + $0 }
        }.map(written)
    }

    /// URLs up to their first parameter or rest.
    static let urls = offering { connection in
        let places = try connection.interfaces(patience: patience).flatMap(\.urls).map { url in
            // The host `*` stands for any.
            guard !url.address.hasPrefix("*/") else { return "" }
            let parts = url.address.split(separator: "/", omittingEmptySubsequences: false)
            let fixed = parts.prefix(1) + parts.dropFirst().prefix { !$0.hasPrefix(":") && !$0.hasPrefix("*") }
            return fixed.joined(separator: "/") + (fixed.count < parts.count ? "/" : "")
        }
        return connection.welcome.schemes.flatMap { scheme in places.map { "\(scheme)://\($0)" } }
    }

    /// The apps whose buses run. None of them is asked.
    static let apps = CompletionKind.custom { _, _, _ in
        SocketSearch(runtimeFolder: Environment["XDG_RUNTIME_DIR"]).live.map(\.app).filter(isPlain).map(written)
    }

    private static func offering(
        _ find: @escaping @Sendable (CommandClient) throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, _ in
            guard let connection = try? choice(in: words).connect(patience: patience) else { return [] }
            return ((try? find(connection)) ?? []).filter(isPlain).map(written)
        }
    }

    /// Whether a name has no special meaning to a shell. Bash expands offered words (`compgen
    /// -W`), so it would execute a `$(…)` in a name.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-", "/", ":", "+", "@", "%", ",": true
                default: scalar.value >= 0xA0 && scalar.properties.isAlphabetic
                }
            }
    }

    /// Escapes colons for zsh, which takes a bare colon for the end of a name and the start of
    /// its description.
    private static func written(_ name: String) -> String {
        CompletionShell.requesting == .zsh ? name.replacing(":", with: "\\:") : name
    }

    /// Returns the bus that a line means which is still being typed.
    private static func choice(in words: [String]) -> BusChoice {
        BusChoice(socket: value(of: "--socket", in: words), app: value(of: "--app", in: words))
    }

    /// Returns the value of an option; nil if the line doesn't have it.
    private static func value(of option: String, in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == option, index + 1 < words.count { return unquoted(words[index + 1]) }
            if word.hasPrefix("\(option)=") { return unquoted(String(word.dropFirst(option.count + 1))) }
        }
        return nil
    }

    /// Removes the quotes from a shell's word, well enough for a path.
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

/// Makes bash's completion work for URLs.
///
/// Bash takes a colon for the end of a word, so the argument parser's script would see a URL as
/// three words. This joins the words first, and then removes from each completion the part that
/// bash already has.
enum BashWords {
    private static let registration = "complete -o filenames -F _strata strata"

    /// Returns the parser's script, with a function that joins words before it runs.
    static func joined(_ script: String) -> String {
        guard let place = script.firstRange(of: registration) else { return script }
        return script[..<place.lowerBound] + wrapper + script[place.upperBound...]
    }

    private static let wrapper = #"""
        _strata_joining_words() {
            local -a words=()
            local -i index number=-1 current=0
            for index in "${!COMP_WORDS[@]}"; do
                if [[ ${number} -ge 0 && (${COMP_WORDS[index]} == :* || ${words[number]} == *:
                    || (${words[number]} != -* && (${COMP_WORDS[index]} == =* || ${words[number]} == *=))) ]]; then
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
            local before=${word%"${word##*[:=]}"}
            for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]=${COMPREPLY[index]#"${before}"}; done
            [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
            return 0
        }

        complete -o filenames -F _strata_joining_words strata
        """#
}
