import ArgumentParser
import StrataCore
import StrataOperator

/// `strata nodes`: shows the app's machines, as one of them sees them.
struct Nodes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the app's nodes, and whether they are connected.",
        discussion: """
            EXAMPLE
              strata nodes
              strata nodes --json | jq -r 'select(.state != "up") | .name'

            A node is never, joining, up, stalled, lost, mismatch, unguarded or name-taken. RTT is the round trip \
            between the two links, UNACKED the bytes that the other link isn't known to have, RESENT the bytes that \
            were sent again, GAPS how often bytes were missing before others, and SESSIONS how often the two links \
            have joined. Below the table are the rows that other nodes have in another form: no message goes to \
            those over there.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let nodes = try bus.connect().nodes()
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(nodes.map(\.json)) }
        guard !nodes.isEmpty else {
            return StandardOutput.write(line: "The app runs on one machine: its manifest has no nodes.")
        }
        var table = Table(columns: [
            .init("NODE"), .init("STATE"), .init("SINCE", isOptional: true), .init("RTT", isRight: true),
            .init("UNACKED", isRight: true), .init("RESENT", isRight: true), .init("GAPS", isRight: true),
            .init("SESSIONS", isRight: true), .init("WHY", isFlexible: true),
        ])
        for node in nodes { table.add(Self.row(node)) }
        table.print(answer.painter)
        for line in nodes.flatMap(\.differences) {
            let lines = Paragraph.lines(Printable.line(line), width: Table.terminalWidth)
            for line in lines { StandardOutput.write(line: answer.painter.paint(line, .yellow)) }
        }
    }

    private static func row(_ node: NodeRow) -> [Table.Cell] {
        func number(_ value: Int64?) -> Table.Cell { .init(value.map { "\($0)" } ?? "–") }
        return [
            .init(node.name, .bold), .init(node.state, node.isUp ? .green : .yellow),
            .init(node.since.map { ClockTime.text($0 * 1_000, digits: 0) } ?? "–", .dim),
            .init(node.roundTrip.map(Self.time) ?? "–"), number(node.unacknowledged), number(node.resent),
            number(node.gaps), number(node.sessions), .init(node.isOwn ? "this node" : node.reason),
        ]
    }

    /// Returns microseconds like `870µs` or `12.3ms`.
    private static func time(_ microseconds: Int64) -> String {
        guard microseconds >= 1_000 else { return "\(microseconds)µs" }
        return "\(microseconds / 1_000).\(microseconds % 1_000 / 100)ms"
    }
}
