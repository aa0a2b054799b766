import ArgumentParser

/// Which bus is meant.
struct SocketOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The bus's socket. Default: STRATA_SOCKET, or the only one in the default folder.", valueName: "path"),
        completion: .file())
    var socket: String?

    func connect() throws(Failure) -> CommandClient { try BusChoice.connect(socket) }
}

/// How the answer is shown.
struct OutputOption: ParsableArguments {
    @Flag(help: "Prints JSON, one value a line; so it does where the output isn't a terminal.")
    var json = false

    /// Whether a program reads the output, and no person.
    var isForPrograms: Bool { json || !StandardOutput.isTerminal }
}
