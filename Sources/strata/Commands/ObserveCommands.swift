import ArgumentParser
import StrataCore
import StrataLoop
import StrataOperator

/// The notifications that `strata observe` and `strata wait` look for. An operator can't observe,
/// so a monitor shows them the broadcasts and reports.
struct ObservedNames: ParsableArguments {
    @Argument(
        help: "The notifications' names, or patterns such as 'storage.*' and 'storage.>'.",
        completion: LiveNames.notifications)
    var names: [String]

    @Option(help: "Only notifications about this object.")
    var object: String?

    func validate() throws {
        for name in names where !(1...256).contains(name.utf8.count) {
            throw ValidationError("A name has 1 to 256 bytes; this one has \(name.utf8.count).")
        }
    }

    /// The names, as messages list them.
    var text: String { names.joined(separator: " or ") + (object.map { " about \($0)" } ?? "") }

    /// Returns the request of a monitor. The bus filters if there is only one name.
    var request: Request {
        let name: [JSON.Member] =
            names.count == 1 && !NamePattern.isPattern(names[0]) ? [.init("name", .string(names[0]))] : []
        return .monitor(name + [.init("kinds", .strings(Self.kinds)), .init("bodies", true)])
    }

    private static let kinds = ["broadcast", "report"]

    /// Whether a frame is one of these notifications, and was not refused.
    func include(_ frame: SeenFrame) -> Bool {
        guard Self.kinds.contains(frame.kind), frame.code.isEmpty,
            names.contains(where: {
                $0 == frame.name || NamePattern.isPattern($0) && NamePattern.matches($0, frame.name)
            })
        else { return false }
        return object == nil || frame.object == object
    }

    /// Suggests names for those that no module here knows.
    func remark(_ connection: CommandClient) {
        let known = KnownNames(connection)
        for name in names where !known.contains(name) {
            known.remark(on: name, "No module here observes or declares")
        }
    }

    /// Reads a partial reply of the monitor; nil if it can't be read.
    static func frame(_ body: [UInt8]) -> SeenFrame? {
        var calls = SeenCalls()
        return (try? JSON(parsing: body, maximumDepth: JSONText.maximumDepth)).map { SeenFrame($0, &calls) }
    }
}

/// `strata observe`: shows broadcasts and reports as they pass.
struct Observe: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows notifications of these names: what is retained, then all as they pass.",
        discussion: """
            EXAMPLE
              strata observe storage.changed
              strata observe 'storage.*'
              strata observe note.added note.removed --object notes/7
              strata observe item.changed --count 1 --json
              strata observe Player.volume           a property's value, and its changes

            First come the broadcasts that the bus has retained, as "retained" in place of the time, and with \
            --json with "retained": true; one that is sent at this moment may come again. Then each broadcast and \
            each report is one line: time (UTC), sender, name and body. A report also has its receiver. Refused ones \
            aren't shown. It ends with ctrl-C, after --count notifications, retained ones not counted, or when the \
            app ends. A body over 64 KiB is left out.
            """)

    @OptionGroup var wanted: ObservedNames

    @Option(help: ArgumentHelp("Ends after this many notifications.", valueName: "n"))
    var count: Int?

    @OptionGroup var loss: WaitOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is at least 1.") }
    }

    func run() throws {
        let connection = try bus.connect()
        let answer = Answer(output)
        if !answer.isForPrograms { wanted.remark(connection) }
        var request = wanted.request
        var left = count ?? .max
        var retained = RetainedFirst(wanted, answer)
        func show(_ body: [UInt8]) {
            guard left > 0, let frame = ObservedNames.frame(body) else { return }
            let isWanted = wanted.include(frame)
            if answer.isForPrograms {
                MonitorCommand.tell(body, frame, isWanted)
            } else {
                NotificationLine(answer.painter).show(frame, body, isWanted)
            }
            if isWanted { left -= 1 }
            if left == 0 { connection.client.cancelAll() }
        }
        request.onPartial = { body in
            if !retained.holds(body) { show(body) }
        }
        try BusReturn.follow(connection, patience: loss.wait.value) { _ throws(Failure) in
            retained = RetainedFirst(wanted, answer)
            let current = retained
            do throws(Failure) {
                defer { current.release(show) }
                _ = try connection.send(
                    request,
                    onTaken: {
                        StandardError.write("strata: observing \(wanted.text); ctrl-C ends it")
                        current.ask(connection.client) { current.release(show) }
                    })
            } catch {
                // Ctrl-C, the count or the orderly end of the app is how the command is meant to end.
                guard error.code != .cancelled else { return }
                guard error.code == .shuttingDown else { throw error }
                StandardError.write("strata: \(MonitorCommand.appEnds)")
            }
        }
    }
}

/// `strata wait`: waits for one broadcast or report.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Waits for a notification, and prints its body.",
        discussion: """
            EXAMPLE
              strata wait storage.ready --timeout 10s
              strata wait item.changed --object item/7 | jq .price

            Standard error says when the bus watches for it: nothing that is sent after that \
            line is missed. A body over 64 KiB is left out, and standard error says so. If \
            nothing comes in time, the exit code is 1.
            """)

    @OptionGroup var wanted: ObservedNames

    @Option(
        help: ArgumentHelp(
            "How long to wait: an integer with ms, s, m or h; 0 waits without limit.", valueName: "time"))
    var timeout = Milliseconds(argument: "30s")!  // because 30s is a valid time

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let connection = try bus.connect()
        var request = wanted.request
        var found: (frame: SeenFrame, body: [UInt8])?
        var missed: Int64 = 0
        request.onPartial = { body in
            guard found == nil, let frame = ObservedNames.frame(body) else { return }
            missed += frame.missed
            guard wanted.include(frame) else { return }
            found = (frame, body)
            connection.client.cancelAll()
        }
        var isOver = false
        let end = LoopTimer(connection.client.loop) {
            isOver = true
            connection.client.cancelAll()
        }
        defer { end.close() }
        if timeout.value > 0 { end.start(after: timeout.value) }
        do throws(Failure) {
            _ = try connection.send(request, onTaken: { StandardError.write("strata: waiting for \(wanted.text)") })
        } catch {
            if let found { return try show(found.frame, found.body) }
            guard isOver, error.code == .cancelled else { throw error }
            throw Failure(.answer, "deadline-exceeded: \(nothingCame(missed))", code: .deadlineExceeded)
        }
    }

    private func nothingCame(_ missed: Int64) -> String {
        "no \(wanted.text) was broadcast or reported within \(Duration.text(timeout.value)): --timeout TIME waits "
            + "longer, and 0 without limit"
            + (missed > 0 ? "\n\(missed) frames were missed, and it may have been among them." : "")
    }

    private func show(_ frame: SeenFrame, _ body: [UInt8]) throws(Failure) {
        if let reason = frame.omission {
            return StandardError.write(
                "strata: \(Printable.line(frame.name)) came, but its body was left out: \(reason)")
        }
        try Answer(output).show(JSONText.member("body", of: body) ?? [])
    }
}

/// The look of a notification to a person.
struct NotificationLine {
    private let painter: Painter

    init(_ painter: Painter) { self.painter = painter }

    /// Writes a broadcast that was retained before the observation.
    func show(_ row: RetainedRow) {
        var words = [painter.paint("retained    ", .dim), peer(row.module)]
        words.append(painter.paint(Printable.line(row.name), .cyan))
        if let object = row.object { words.append(painter.paint("(\(Printable.line(object)))", .dim)) }
        if let reason = row.omitted {
            words.append(painter.paint("the body was left out: \(reason)", .dim))
        } else if let body = row.body, body != .null {
            words.append(Printable.line("\(body)"))
        }
        StandardOutput.write(line: words.joined(separator: "  "))
    }

    /// Writes how many frames were missed before it, and the notification if it is wanted.
    func show(_ frame: SeenFrame, _ body: [UInt8], _ isWanted: Bool) {
        if frame.missed > 0 {
            StandardOutput.write(line: painter.paint("\(frame.missed) frames were missed here", .yellow))
        }
        if isWanted { StandardOutput.write(line: text(frame, body)) }
    }

    private func text(_ frame: SeenFrame, _ body: [UInt8]) -> String {
        var words = [painter.paint(ClockTime.text(frame.at, digits: 3), .dim), peer(frame.from)]
        if frame.kind == "report" { words += ["→ \(peer(frame.to))"] }
        words.append(painter.paint(Printable.line(frame.name), .cyan))
        if let object = frame.object { words.append(painter.paint("(\(Printable.line(object)))", .dim)) }
        if let reason = frame.omission {
            words.append(painter.paint("the body was left out: \(reason)", .dim))
        } else if let body = JSONText.member("body", of: body), body != Array("null".utf8) {
            words.append(Printable.line(String(decoding: body, as: UTF8.self)))
        }
        return words.joined(separator: "  ")
    }

    private func peer(_ name: String) -> String {
        let shown = Printable.line(name)
        let isModule = !["operator", "launcher", "bus"].contains(name)
        return isModule ? painter.paint(shown, ofModule: name) : painter.paint(shown, .bold)
    }
}
