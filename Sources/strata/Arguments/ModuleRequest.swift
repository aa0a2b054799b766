import ArgumentParser
import StrataCore
import StrataOperator

/// The part that `start`, `stop` and `restart` share: they ask the launcher, which answers when
/// it is done.
struct ModuleRequest: ParsableArguments {
    /// Long enough for both steps of a start, and for a stop with all its signals.
    private static let patience: UInt64 = 120_000

    @Option(
        help: ArgumentHelp(
            "How long it may take: an integer with ms, s, m or h. Default: 2m.", valueName: "time"))
    var timeout: Milliseconds?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    /// Sends a request to the launcher, and shows the result.
    /// - Parameters:
    ///   - action: the launcher's action.
    ///   - module: the name of the module.
    ///   - members: further members of the request's body.
    ///   - doing: the word that is shown while the action takes long.
    ///   - done: the word that is shown at the end.
    func run(
        _ action: String, _ module: String, _ members: [JSON.Member] = [], doing: String, done: String
    ) throws(Failure) {
        let request = Request(
            to: "launcher/\(action)", .object([.init("module", .string(module))] + members),
            deadline: timeout?.value ?? Self.patience)
        let connection = try bus.connect()
        let body: [UInt8]
        do throws(Failure) { body = try connection.send(request, "\(doing) \(module)") } catch {
            throw Self.suggesting(error, for: module, connection)
        }
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.show(body) }
        StandardOutput.write(line: "\(answer.painter.paint(Printable.line(module), .bold)) \(done)")
    }

    /// Adds the nearest names to an error about an unknown module.
    static func suggesting(_ failure: Failure, for module: String, _ connection: CommandClient) -> Failure {
        guard failure.code == .unknownModule, let names = try? connection.modules().map(\.name) else { return failure }
        var failure = failure
        failure.message += InterfaceActions.hint(
            nearestNames(to: module, in: names).filter { !failure.message.contains($0) })
        return failure
    }
}
