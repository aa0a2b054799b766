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
        StandardOutput.write(line: shell == .bash ? BashColons.joined(script) : script)
    }
}
