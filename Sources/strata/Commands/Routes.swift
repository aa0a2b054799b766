import ArgumentParser
import StrataCore

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
        let interfaces = try connection.ask("bus/interfaces")["interfaces"]?.array ?? []
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(interfaces) }

        var table = Table(columns: [
            .init("INTERFACE", isFlexible: true), .init("MODULE", isFlexible: true),
            .init("ACTIONS", isFlexible: true), .init("REQUIRED BY", isFlexible: true),
        ])
        for interface in interfaces { table.add(Self.row(interface)) }
        table.print(answer.painter)

        let urls = interfaces.flatMap { $0["urls"]?.array ?? [] }
        guard !urls.isEmpty else { return }
        // Any of the app's schemes opens each of them.
        let scheme = connection.welcome.schemes.first ?? "…"
        var opened = Table(columns: [.init("URL", isFlexible: true), .init("TO", isFlexible: true)])
        for url in urls {
            opened.add([.init("\(scheme)://\(Self.address(url))", .cyan), .init(url["to"]?.string ?? "")])
        }
        StandardOutput.write(line: "")
        opened.print(answer.painter)
    }

    private static func row(_ interface: JSON) -> [Table.Cell] {
        let actions = InterfaceActions.members(interface["actions"] ?? .null).map { action in
            action.value["auth"]?.bool == true ? "\(action.name)*" : action.name
        }
        let isMultiple = interface["instances"]?.string == "multiple"
        return [
            .init((interface["name"]?.string ?? "?") + (isMultiple ? "#" : ""), .bold),
            .init(interface["module"]?.string ?? "–"),
            .init(actions.isEmpty ? "any" : actions.joined(separator: " "), actions.isEmpty ? .dim : .plain),
            .init(interface["requiredBy"]?.array?.compactMap(\.string).joined(separator: " ") ?? ""),
        ]
    }

    /// A URL without its scheme, from a text or from hello's shape.
    private static func address(_ url: JSON) -> String {
        url.string ?? (url["host"]?.string ?? "") + (url["path"]?.string ?? "")
    }
}
