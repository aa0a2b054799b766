import ArgumentParser
import StrataOperator

/// `strata routes`: what can be called and opened, and whose it is.
struct Routes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the interfaces with their modules, actions and URLs.",
        discussion: """
            EXAMPLE
              strata routes
              strata routes --json | jq -r .name

            Actions with * need authorization; an interface with # has instances.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

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
        // Any of the app's schemes opens each of them.
        let scheme = connection.welcome.schemes.first ?? "…"
        var opened = Table(columns: [.init("URL", isFlexible: true), .init("TO", isFlexible: true)])
        for url in urls {
            opened.add([.init("\(scheme)://\(url.address)", .cyan), .init(url.to)])
        }
        StandardOutput.write(line: "")
        opened.print(answer.painter)
    }

    private static func row(_ interface: InterfaceRow) -> [Table.Cell] {
        let actions = interface.actions.map { $0.needsAuthorization ? "\($0.name)*" : $0.name }
        return [
            .init(interface.name + (interface.hasInstances ? "#" : ""), .bold), .init(interface.module),
            .init(actions.isEmpty ? "any" : actions.joined(separator: " "), actions.isEmpty ? .dim : .plain),
            .init(interface.requiredBy.joined(separator: " ")),
        ]
    }
}
