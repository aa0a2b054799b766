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
