import ArgumentParser
import StrataCore
import StrataOperator

/// `strata levels`: shows the level table, and which modules belong in another level.
struct Levels: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the level table, foundation first.",
        discussion: """
            EXAMPLE
              strata levels
              strata levels --json | jq -r '.advice // empty | .[]'

            Broadcasts go down the table, from a level to every later one; reports go up, to a \
            module of the same or an earlier level. A module that reports to three or more \
            modules of its own level, declared or seen, belongs in an earlier one; advice below \
            the table says so.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let levels = try bus.connect().ask("bus/levels")["levels"]?.array ?? []
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(levels.map(Self.withAdvice)) }
        var table = Table(columns: [.init("RANK", isRight: true), .init("LEVEL"), .init("MODULES", isFlexible: true)])
        for level in levels {
            let modules = level["modules"]?.array?.compactMap { $0.string ?? $0["name"]?.string } ?? []
            table.add([
                .init("\(level["rank"]?.integer ?? 0)", .dim),
                .init(level["name"]?.string ?? "?", .bold),
                .init(modules.joined(separator: " ")),
            ])
        }
        table.print(answer.painter)
        for line in levels.flatMap(Self.advice(on:)) {
            let lines = Paragraph.lines("advice: \(Printable.line(line))", width: Table.terminalWidth)
            for line in lines { StandardOutput.write(line: answer.painter.paint(line, .yellow)) }
        }
    }

    /// Returns a level as the bus reports it, with the advice about it.
    private static func withAdvice(_ level: JSON) -> JSON {
        let advice = advice(on: level)
        guard !advice.isEmpty, let members = level.object else { return level }
        return .object(members + [.init("advice", .array(advice.map { .string($0) }))])
    }

    private static func advice(on level: JSON) -> [String] {
        func names(_ list: JSON?) -> [String] { list?.array?.compactMap(\.string) ?? [] }
        return (level["reporters"]?.array ?? []).compactMap { reporter in
            LevelAdvice(
                reporter["module"]?.string ?? "?", rank: Int(level["rank"]?.integer ?? 0),
                level: level["name"]?.string ?? "?", declared: names(reporter["declared"]),
                seen: names(reporter["seen"]))?.message
        }
    }
}

/// `strata routes`: shows what can be called and opened, and which module provides it.
struct Routes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the interfaces with their modules, actions and URLs.",
        discussion: """
            EXAMPLE
              strata routes
              strata routes --json | jq -r .name

            Actions with * need authorization, those with + answer in a stream. An interface has @ before its \
            version, and # if it has instances.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let connection = try bus.connect()
        let interfaces = try connection.interfaces()
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(interfaces.map(\.json)) }

        var table = Table(columns: [
            .init("INTERFACE", isFlexible: true), .init("MODULE", isFlexible: true),
            .init("ACTIONS", isFlexible: true), .init("REQUIRED BY", isFlexible: true),
        ])
        for interface in interfaces { table.add(Self.row(interface)) }
        table.print(answer.painter)

        let urls = interfaces.flatMap(\.urls)
        guard !urls.isEmpty else { return }
        // Each of the app's schemes opens each of these URLs.
        let scheme = connection.welcome.schemes.first ?? "…"
        var opened = Table(columns: [.init("URL", isFlexible: true), .init("TO", isFlexible: true)])
        for url in urls {
            opened.add([.init("\(scheme)://\(url.address)", .cyan), .init(url.to)])
        }
        StandardOutput.write(line: "")
        opened.print(answer.painter)
    }

    private static func row(_ interface: InterfaceRow) -> [Table.Cell] {
        let name = RequiredInterface(name: interface.name, version: interface.version).description
        let actions = interface.actions.map { $0.name + ($0.needsAuthorization ? "*" : "") + ($0.isStream ? "+" : "") }
        return [
            .init(name + (interface.hasInstances ? "#" : ""), .bold), .init(interface.module),
            .init(actions.isEmpty ? "any" : actions.joined(separator: " "), actions.isEmpty ? .dim : .plain),
            .init(interface.requiredBy.joined(separator: " ")),
        ]
    }
}
