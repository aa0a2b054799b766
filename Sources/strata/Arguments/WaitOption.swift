import ArgumentParser

/// How long what goes on waits for the next broker, where the bus is gone.
struct WaitOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long it waits for a bus that is gone: an integer with ms, s, m or h; 0 is not at all.",
            valueName: "time"))
    var wait = Milliseconds(argument: "30s")!  // because 30s is one
}
