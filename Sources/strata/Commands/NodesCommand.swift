import ArgumentParser
import StrataCore

/// `strata nodes`: shows the app's machines, as one of them sees them.
struct Nodes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the app's nodes, and whether they are connected.",
        discussion: """
            EXAMPLE
              strata nodes
              strata nodes --json | jq -r 'select(.state != "up") | .name'

            A node is never, joining, up, mismatch or lost. Below the table are the rows that other nodes \
            have in another form: no message goes to those over there.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let nodes = try bus.connect().nodes()
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(nodes) }
        guard !nodes.isEmpty else {
            return StandardOutput.write(line: "The app runs on one machine: its manifest has no nodes.")
        }
        var table = Table(columns: [
            .init("NODE"), .init("STATE"), .init("SINCE"), .init("OPEN", isRight: true), .init("QUEUED", isRight: true),
            .init("WHY", isFlexible: true),
        ])
        for node in nodes { table.add(Self.row(node)) }
        table.print(answer.painter)
        for line in nodes.flatMap({ $0["rowsThatDiffer"]?.array?.compactMap(\.string) ?? [] }) {
            let lines = Paragraph.lines(Printable.line(line), width: Table.terminalWidth)
            for line in lines { StandardOutput.write(line: answer.painter.paint(line, .yellow)) }
        }
    }

    private static func row(_ node: JSON) -> [Table.Cell] {
        func number(_ name: String) -> String { node[name]?.integer.map { "\($0)" } ?? "–" }
        let state = node["state"]?.string ?? "?"
        let isOwn = node["own"] == true
        return [
            .init(node["name"]?.string ?? "?", .bold), .init(state, state == "up" ? .green : .yellow),
            .init(node["since"]?.integer.map { ClockTime.text($0 * 1_000, digits: 0) } ?? "–", .dim),
            .init(number("open")), .init(number("queued")),
            .init(isOwn ? "this node" : node["reason"]?.string ?? ""),
        ]
    }
}
