import ArgumentParser
import StrataCore
import StrataLoop
import StrataOperator

/// `strata ps`: shows the modules and their states.
struct ProcessStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ps",
        abstract: "Shows the modules and their states.",
        discussion: """
            EXAMPLE
              strata ps
              strata ps --json | jq -r 'select(.state != "ready") | .name'
              strata ps --why               why modules aren't ready, or were started again
              strata ps --why Storage
              strata ps --all-nodes         the modules of each node, in an app with several

            OPEN counts the requests that a module is serving, WAITING the requests that wait \
            until it is ready, and QUEUED the bytes on their way to it. A reason for a module's \
            state follows below the table, in at most two lines. PRIO and LEVEL are left out if \
            the terminal is too narrow. --why shows how the last process of each module ended, \
            and what it wrote last. --all-nodes asks each node. A node that doesn't answer is named on \
            standard error, its modules are shown as this node sees them, and the exit code is 1.
            """)

    @Flag(help: "Shows why modules aren't ready or were restarted, and their last lines.")
    var why = false

    @Argument(help: "Only this module; with --why.", completion: LiveNames.modules)
    var module: String?

    @Flag(help: "Shows the modules of all nodes, in an app with nodes.")
    var allNodes = false

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func validate() throws {
        if module != nil, !why { throw ValidationError("MODULE needs --why.") }
        if allNodes, why { throw ValidationError("--why explains one node's modules: use it with --node.") }
        if allNodes, bus.node != nil { throw ValidationError("Use only one of --node and --all-nodes.") }
    }

    func run() throws {
        let connection = try bus.connect()
        let answer = Answer(output)
        if allNodes {
            let found = try AllNodes(connection)
            try show(found.modules, answer)
            for failure in found.failures { StandardError.write("strata: \(failure)") }
            if !found.failures.isEmpty { exitNow(.answer) }
            return
        }
        let modules = try connection.modules()
        if why { return try explain(modules, connection, answer) }
        try show(modules, answer)
    }

    private func show(_ modules: [ModuleRow], _ answer: Answer) throws {
        if answer.isForPrograms { return try answer.showEach(modules.map(\.json)) }
        let now = Int64(Loop.wallMicroseconds / 1_000)
        let hasNodes = modules.contains { !$0.nodes.isEmpty }
        var table = Table(
            columns: [.init("MODULE", isFlexible: true)] + (hasNodes ? [.init("NODE", isFlexible: true)] : []) + [
                .init("LEVEL", isFlexible: true, isOptional: true),
                .init("PRIO", isRight: true, isOptional: true), .init("STATE", isFlexible: true),
                .init("PID", isRight: true), .init("UPTIME", isRight: true), .init("RESTARTS", isRight: true),
                .init("OPEN", isRight: true), .init("WAITING", isRight: true), .init("QUEUED", isRight: true),
            ], isOfSingleLines: true)
        for module in modules { table.add(Self.row(module, hasNodes: hasNodes, now: now)) }
        table.print(answer.painter)
        Self.showReasons(modules, answer.painter)
    }

    /// Writes the reasons for the modules' states below the table, in at most two lines each. The
    /// second line shows what a process wrote last, because that tells most.
    private static func showReasons(_ modules: [ModuleRow], _ painter: Painter) {
        let reasons = modules.map { (name: $0.name, text: reason($0)) }.filter { !$0.text.isEmpty }
        guard !reasons.isEmpty else { return }
        StandardOutput.write(line: "")
        let width = Table.terminalWidth - indent.count
        for (name, text) in reasons {
            let name = Printable.line(name)
            let text = Printable.line("\(name): \(text)")
            let wrote = text.firstRange(of: "; its last lines: ")
            let lines =
                wrote.map {
                    [
                        Paragraph.cut(String(text[..<$0.lowerBound]), width: width),
                        "it wrote: \(text[$0.upperBound...])",
                    ]
                }
                ?? Paragraph.lines(text, width: width, most: 2)
            StandardOutput.write(line: painter.paint(name, .bold) + lines[0].dropFirst(name.count))
            for line in lines.dropFirst() { StandardOutput.write(line: indent + Paragraph.cut(line, width: width)) }
        }
        StandardOutput.write(line: "strata ps --why shows more.")
    }

    private static let indent = "    "

    private static func reason(_ module: ModuleRow) -> String {
        ([module.reason] + module.quarantined.map(text)).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    // MARK: --why

    private func explain(_ modules: [ModuleRow], _ connection: CommandClient, _ answer: Answer) throws {
        var chosen = modules
        if let module {
            chosen = modules.filter { $0.name == module }
            guard !chosen.isEmpty else {
                let near = nearestNames(to: module, in: modules.map(\.name))
                throw Failure(
                    .answer, "unknown-module: no module here is named \(module)\(InterfaceActions.hint(near))",
                    code: .unknownModule)
            }
        }
        // Without a launcher, only the broker's part is known.
        var causes = chosen.map { row in
            let why = try? connection.ask("launcher/why", ["module": .string(row.name)])
            return ModuleCause(row, why)
        }
        if module == nil { causes = causes.filter(\.isWorthTelling) }
        if answer.isForPrograms { return try answer.showEach(causes.map(\.json)) }
        guard !causes.isEmpty else {
            StandardOutput.write(line: "All modules are ready, and none was started again.")
            return
        }
        Self.show(causes, answer.painter)
    }

    private static func show(_ causes: [ModuleCause], _ painter: Painter) {
        let now = Int64(Loop.wallMicroseconds / 1_000)
        var table = Table(columns: [
            .init("MODULE", isFlexible: true), .init("STATE"), .init("RESTARTS", isRight: true),
            .init("ENDED", isFlexible: true), .init("WHY", isFlexible: true),
        ])
        for cause in causes {
            let row = cause.row
            let end = cause.lastEnd.map { "\($0.exit), \(Duration.short(milliseconds: now - ($0.at ?? now))) ago" }
            table.add([
                .init(row.name, .bold), .init(state(row), row.isHung ? .yellow : .ofState(row.state)),
                .count(cause.restarts, .yellow),
                .init(end ?? "–"), .init(explanation(cause)),
            ])
        }
        table.print(painter)
        for cause in causes where !cause.lines.isEmpty {
            StandardOutput.write(line: "")
            StandardOutput.write(line: "\(painter.paint(Printable.line(cause.row.name), .bold)) wrote last:")
            for line in cause.lines { StandardOutput.write(line: "    \(Printable.line(line))") }
        }
    }

    /// Explains a cause in a sentence or two.
    private static func explanation(_ cause: ModuleCause) -> String {
        var parts = [cause.reason]
        if let activity = cause.activity { parts.append("it waits \(activity)") }
        if let death = cause.lastDeath {
            parts.append(
                "\(death.calls) \(death.calls == 1 ? "call was" : "calls were") open when it died last: "
                    + death.actions.joined(separator: ", ") + (death.unnamed > 0 ? " and \(death.unnamed) more" : ""))
        }
        if cause.row.missed > 0 {
            parts.append("it missed \(cause.row.missed) notice\(cause.row.missed == 1 ? "" : "s") while it was away")
        }
        return (parts + cause.row.quarantined.map(text)).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// Returns text like `Store/write is quarantined for 42s more (3 deaths)`.
    private static func text(_ quarantined: ModuleRow.Quarantine) -> String {
        let left = Duration.short(milliseconds: quarantined.until - Int64(Loop.wallMicroseconds / 1_000))
        return "\(quarantined.action) is quarantined for \(left) more (\(quarantined.deaths) deaths)"
    }

    private static func state(_ module: ModuleRow) -> String {
        module.state + (module.isHung ? ", hung" : "") + (module.isPending ? ", pending" : "")
    }

    private static func row(_ module: ModuleRow, hasNodes: Bool, now: Int64) -> [Table.Cell] {
        [.init(module.name, .bold)] + (hasNodes ? [.init(module.nodes.joined(separator: ", "))] : []) + [
            .init(module.level), .init("\(module.priority)"),
            .init(state(module), module.isHung ? .yellow : .ofState(module.state)),
            .init(module.pid.map { "\($0)" } ?? "–"),
            .init(module.uptime(at: now).map(Duration.short) ?? "–"), .count(module.restarts, .yellow),
            .count(module.open), .count(module.waiting), .count(module.queued),
        ]
    }
}
