import ArgumentParser
import StrataCore
import StrataOperator

/// `strata monitor`: shows live what passes on the bus.
struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Shows the frames that the bus passes on or refuses, live.",
        discussion: """
            EXAMPLE
              strata monitor --module Catalog --bodies
              strata monitor --module Catalog,Notes --kind call,reply,error
              strata monitor --name 'note.*'
              strata monitor --action Catalog/item      its calls, and how long each takes
              strata monitor --errors
              strata monitor --most 50                  a sample of a busy app
              strata monitor --json | jq 'select(.microseconds > 10000)'

            A frame must match each option, and one value of an option is enough. The last column \
            is how long an answer took. Times are UTC. It ends with ctrl-C or when the app ends. If \
            the broker dies, it waits for the next one, and continues.
            """)

    /// The last message of a command that runs until the app ends.
    static let appEnds = "the app ends"

    @OptionGroup var filter: FrameFilter

    @Flag(help: "Shows the frames' bodies too.")
    var bodies = false

    @Option(
        help: ArgumentHelp(
            "Shows at most so many frames a second: some of each sender, receiver, kind and name, and errors first.",
            valueName: "frames"))
    var most: Int?

    @OptionGroup var loss: WaitOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    mutating func validate() throws {
        if let most, !(1...100_000).contains(most) { throw ValidationError("--most is 1 to 100,000 frames a second.") }
    }

    func run() throws {
        var params = filter.params
        if let most {
            params.append(.init("most", .integer(Int64(most))))
            params += filter.choice
        }
        if bodies { params.append(.init("bodies", true)) }
        var request = Request.monitor(params)
        let answer = Answer(output)
        let connection = try bus.connect()
        let modules = answer.isForPrograms && filter.modules.isEmpty ? [] : try connection.modules().map(\.name)
        remark(on: filter.modules, modules)
        let view = FrameView(modules, width: Table.terminalWidth, answer.painter)
        if !answer.isForPrograms, StandardError.isTerminal {
            StandardError.write("Watching \(filter.summary); ctrl-C ends it.")
        }
        var calls = SeenCalls()
        request.onPartial = { body in
            guard let json = try? JSON(parsing: body, maximumDepth: JSONText.maximumDepth) else { return }
            let frame = SeenFrame(json, &calls)
            if let leftOut = frame.leftOut {
                if answer.isForPrograms { return StandardOutput.write(line: JSONText.compact(body) ?? body) }
                return leftOut.forEach { StandardOutput.write(line: view.left($0)) }
            }
            let isWanted = filter.wants(frame)
            if answer.isForPrograms {
                Self.tell(body, frame, isWanted)
            } else {
                show(body, frame, isWanted, view)
            }
        }
        try BusReturn.follow(connection, patience: loss.wait.value) { isAgain throws(Failure) in
            // Another broker numbers its calls from the start.
            if isAgain { calls = SeenCalls() }
            do throws(Failure) { _ = try connection.send(request) } catch {
                // Ctrl-C or the orderly end of the app is how the command is meant to end.
                guard error.code != .cancelled else { return }
                guard error.code == .shuttingDown else { throw error }
                StandardError.write("strata: \(Self.appEnds)")
            }
        }
    }

    /// Suggests names for modules that don't exist. A guest may still connect, so the monitor
    /// waits for it.
    private func remark(on wanted: [String], _ modules: [String]) {
        let names = modules + ["operator", "launcher", "bus"]
        for module in wanted where !names.contains(module) {
            StandardError.write(
                "No module here is named \(module).\(InterfaceActions.hint(nearestNames(to: module, in: names)))")
        }
    }

    /// Writes a line for a program: what the bus sent, and how long an answer took. A number of
    /// missed frames gets a line of its own if the frame after them isn't wanted.
    static func tell(_ body: [UInt8], _ frame: SeenFrame, _ isWanted: Bool) {
        guard isWanted else {
            if frame.missed > 0 { StandardOutput.write(line: #"{"missed":\#(frame.missed)}"#) }
            return
        }
        guard var line = JSONText.compact(body) else { return }
        if let took = frame.took, line.last == UInt8(ascii: "}") {
            line.removeLast()
            line += ",\"microseconds\":\(took)}".utf8
        }
        StandardOutput.write(line: line)
    }

    /// Writes a line for a person, and the frame's body below it if the body came along.
    private func show(_ body: [UInt8], _ frame: SeenFrame, _ isWanted: Bool, _ view: FrameView) {
        if frame.missed > 0 { StandardOutput.write(line: view.missed(frame.missed)) }
        guard isWanted else { return }
        if frame.left > 0 { StandardOutput.write(line: view.left(frame.left)) }
        StandardOutput.write(line: view.line(frame))
        let painter = Painter.standardOutput
        if let body = JSONText.member("body", of: body), let shown = JSONText.pretty(body, painter, indent: 2) {
            StandardOutput.write(line: "    \(shown)")
        } else if let start = frame.start {
            StandardOutput.write(line: "    \(Printable.line(start)) …")
            StandardOutput.write(line: painter.paint("    only its start is shown, because it is over 64 KiB", .dim))
        } else if let why = frame.omission {
            StandardOutput.write(line: painter.paint("    the body was left out: \(why)", .dim))
        }
    }
}
