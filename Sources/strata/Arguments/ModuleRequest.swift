import ArgumentParser
import StrataCore
import StrataOperator

/// What `start`, `stop` and `restart` have in common: the launcher is asked,
/// and answers when it is done.
struct ModuleRequest: ParsableArguments {
    /// Both of a start's steps, and a stop with all its signals, fit into it.
    private static let patience: UInt64 = 120_000

    @Option(
        help: ArgumentHelp(
            "How long it may take: an integer with ms, s, m or h. Default: 2m.", valueName: "time"))
    var timeout: Milliseconds?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    /// - Parameters:
    ///   - action: the launcher's.
    ///   - module: its name.
    ///   - doing: what is shown while it takes long.
    ///   - done: what is shown at the end.
    func run(_ action: String, _ module: String, doing: String, done: String) throws(Failure) {
        let request = Request(
            to: "launcher/\(action)", ["module": .string(module)], deadline: timeout?.value ?? Self.patience)
        let connection = try bus.connect()
        let body: [UInt8]
        do throws(Failure) { body = try connection.send(request, "\(doing) \(module)") } catch {
            throw suggesting(error, for: module, connection)
        }
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.show(body) }
        StandardOutput.write(line: "\(answer.painter.paint(Printable.line(module), .bold)) \(done)")
    }

    /// Adds the nearest names to an error about a module that isn't there.
    private func suggesting(_ failure: Failure, for module: String, _ connection: CommandClient) -> Failure {
        guard failure.code == .unknownModule, let names = try? connection.modules().map(\.name) else { return failure }
        var failure = failure
        failure.message += InterfaceActions.hint(
            nearestNames(to: module, in: names).filter { !failure.message.contains($0) })
        return failure
    }
}
