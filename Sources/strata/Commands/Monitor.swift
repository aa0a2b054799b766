import ArgumentParser
import StrataCore

/// `strata monitor`: what passes on the bus, live.
struct Monitor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the frames that the bus lets pass or refuses, live.",
        discussion: """
            EXAMPLE
              strata monitor --module Catalog --bodies
              strata monitor --json | jq 'select(.code)'

            Ctrl-C ends it.
            """)

    @Option(help: "Only frames from or to this module.", completion: LiveNames.modules)
    var module: String?

    @Option(help: "Only notifications and events of this name.", completion: LiveNames.names)
    var name: String?

    @Flag(help: "Shows the frames' bodies too.")
    var bodies = false

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        var params: [JSON.Member] = []
        if let module { params.append(.init("module", .string(module))) }
        if let name { params.append(.init("name", .string(name))) }
        if bodies { params.append(.init("bodies", true)) }
        var request = Request(to: "bus/monitor", body: JSON.object(params).encoded())
        request.isEndless = true
        request.deadline = 0
        request.credit = 64
        let answer = Answer(output)
        var failure: Failure?
        request.onPartial = { body in
            do throws(Failure) {
                if answer.isForPrograms { return try answer.show(body) }
                show(body, answer.painter)
            } catch { failure = failure ?? error }
        }
        let connection = try bus.connect()
        if let module { try remark(on: module, connection) }
        do {
            _ = try connection.send(request)
        } catch {
            // Ctrl-C is how it is meant to end.
            guard error.code == .cancelled else { throw error }
        }
        if let failure { throw failure }
    }

    /// Says of a module that isn't there which one may have been meant. A guest may
    /// still come, so the monitor waits for it.
    private func remark(on module: String, _ connection: OperatorConnection) throws(Failure) {
        let modules = try connection.ask("modules")["modules"]?.array ?? []
        let names = modules.compactMap { $0["name"]?.string } + ["operator", "launcher", "bus"]
        guard !names.contains(module) else { return }
        StandardError.write(
            "No module here is named \(module).\(InterfaceActions.hint(nearestNames(to: module, in: names)))")
    }

    /// A line for a frame, and its body below where it came along.
    private func show(_ partial: [UInt8], _ painter: Painter) {
        guard let frame = try? JSON(parsing: partial, maximumDepth: JSONText.maximumDepth) else { return }
        if let missed = frame["missed"]?.integer, missed > 0 {
            StandardOutput.write(line: painter.paint("\(missed) frames were missed here", .yellow))
        }
        func text(_ member: String) -> String { Printable.line(frame[member]?.string ?? "") }
        let kind = text("kind")
        var line = painter.paint(Self.time(frame["at"]?.integer ?? 0), .dim)
        line += "  " + painter.paint(kind, kind == "error" ? .red : .bold)
        line += String(repeating: " ", count: max(0, 9 - kind.count)) + "  \(text("from")) → \(text("to"))"
        if !text("name").isEmpty { line += "  " + painter.paint(text("name"), .cyan) }
        if !text("code").isEmpty { line += "  " + painter.paint(text("code"), .red) }
        if let bytes = frame["bytes"]?.integer { line += "  " + painter.paint("\(bytes) B", .dim) }
        StandardOutput.write(line: line)
        if let body = JSONText.member("body", of: partial), let shown = JSONText.pretty(body, painter, indent: 2) {
            StandardOutput.write(line: "    \(shown)")
        } else if let reason = frame["omitted"]?.string {
            let why = reason == "size" ? "over the frame's limit" : "not JSON"
            StandardOutput.write(line: painter.paint("    the body was left out: \(why)", .dim))
        }
    }

    /// The time of day, in UTC, of microseconds since 1970.
    private static func time(_ microseconds: Int64) -> String {
        func padded(_ number: Int64, _ digits: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        let second = microseconds / 1_000_000 % 86_400
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(clock).\(padded(microseconds % 1_000_000, 6))"
    }
}
