import ArgumentParser
import StrataCore

/// `strata logs`: what modules wrote.
struct Logs: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what modules wrote to standard output and standard error.",
        discussion: """
            EXAMPLE
              strata logs
              strata logs Notes --lines 20
              strata logs -f Catalog Storage
              strata logs --json | jq -r 'select(.stream == "err") | .line'

            The launcher keeps the last 1,000 lines of each module, 256 KiB of them at most, over \
            all of its processes. What was written to standard error has ! before it, the rest |. \
            Times are UTC. Ctrl-C ends -f; so does the app's end.
            """)

    @Argument(help: "Only these.", completion: LiveNames.modules)
    var modules: [String] = []

    @Flag(name: [.customShort("f"), .long], help: "Goes on with lines as they come.")
    var follow = false

    @Option(help: ArgumentHelp("So many of each module that are there already.", valueName: "n"))
    var lines = 100

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func validate() throws {
        guard lines >= 0 else { throw ValidationError("--lines is 0 or more.") }
    }

    func run() throws {
        var params: [JSON.Member] = [.init("lines", .integer(Int64(lines))), .init("follow", .bool(follow))]
        if !modules.isEmpty { params.insert(.init("modules", .array(modules.map { .string($0) })), at: 0) }
        var request = Request(to: "launcher/logs", body: JSON.object(params).encoded())
        request.credit = 256
        request.isEndless = follow
        if follow { request.deadline = 0 }
        let answer = Answer(output)
        let connection = try bus.connect()
        var view = LineView(answer.isForPrograms ? [] : try names(connection), answer.painter)
        var failure: Failure?
        request.onPartial = { body in
            do throws(Failure) {
                if answer.isForPrograms { return try answer.show(body) }
                guard let entry = try? JSON(parsing: body) else { return }
                for line in view.lines(entry) { StandardOutput.write(line: line) }
            } catch { failure = failure ?? error }
        }
        try sayEnd(connection, request)
        if let failure { throw failure }
    }

    /// Of the modules whose lines come.
    private func names(_ connection: OperatorConnection) throws(Failure) -> [String] {
        guard modules.isEmpty else { return modules }
        return try connection.ask("modules")["modules"]?.array?.compactMap { $0["name"]?.string } ?? []
    }

    /// Says what came of the stream, where that isn't just its end.
    private func sayEnd(_ connection: OperatorConnection, _ request: Request) throws(Failure) {
        do throws(Failure) {
            let body = try connection.send(request)
            let end = try? JSON(parsing: body)
            if let missed = end?["missed"]?.integer, missed > 0 {
                StandardError.write("strata: \(LineView.missed(missed))")
            }
            if let reason = end?["ended"]?.string { StandardError.write("strata: \(reason)") }
        } catch {
            // Ctrl-C is how -f is meant to end; and an app that ends may say so itself.
            if follow, error.code == .cancelled { return }
            guard follow, error.code == .shuttingDown else { throw error }
            StandardError.write("strata: the app ends")
        }
    }
}
