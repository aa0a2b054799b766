import ArgumentParser
import StrataCore
import StrataOperator

/// `strata retained`: lists the broadcasts that the bus keeps for later observers.
struct RetainedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retained", abstract: "Lists the broadcasts that the bus keeps for later observers.",
        discussion: """
            EXAMPLE
              strata retained
              strata retained 'Player.*'
              strata retained --json | jq -r 'select(.bytes > 1000) | .name'

            They are listed in the order in which they were broadcast. UNTIL says what ends a broadcast, if the \
            module doesn't replace it: its session, or the app. `strata observe` shows their bodies.
            """)

    @Argument(
        help: "Only those of this name, or of a pattern such as 'Player.*'.", completion: LiveNames.notifications)
    var name: String?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let connection = try bus.connect()
        let answer = Answer(output)
        var rows: [RetainedRow] = []
        var next: Int64?
        repeat {
            let page = try connection.ask("bus/retained", RetainedRow.params(of: name, bodies: false, from: next))
            let (more, following) = RetainedRow.page(page)
            rows += more
            next = following
        } while next != nil
        if answer.isForPrograms { return try answer.showEach(rows.map(\.json)) }
        guard !rows.isEmpty else {
            let what = name.map { " of \(Printable.line($0))" } ?? ""
            return StandardOutput.write(line: "The bus keeps no broadcast\(what).")
        }
        var table = Table(columns: [
            .init("NAME"), .init("OBJECT", isOptional: true), .init("MODULE"), .init("BYTES", isRight: true),
            .init("UNTIL", isFlexible: true),
        ])
        for row in rows {
            table.add([
                .init(row.name, .bold), .init(row.object ?? "–"), .init(row.module), .init("\(row.bytes)"),
                .init(row.until),
            ])
        }
        table.print(answer.painter)
    }
}
