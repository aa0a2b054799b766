import ArgumentParser
import StrataCore

/// `strata levels`: the level table.
struct Levels: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the level table, foundation first.",
        discussion: """
            EXAMPLE
              strata levels

            Broadcasts go down the table, from a level to every later one; reports go up, to a \
            module of the same or an earlier level.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let levels = try bus.connect().ask("levels")["levels"]?.array ?? []
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(levels) }
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
    }
}
