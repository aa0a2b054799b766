import ArgumentParser
import StrataCore

/// `strata ps`: the modules and how they are.
struct ProcessStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ps",
        abstract: "Shows the modules and their states.",
        discussion: """
            EXAMPLE
              strata ps
              strata ps --json | jq -r 'select(.state != "ready") | .name'

            OPEN counts the requests that a module is serving, WAITING those that wait until it \
            is ready, QUEUED the bytes on their way to it.
            """)

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let modules = try bus.connect().ask("modules")["modules"]?.array ?? []
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(modules) }
        let now = Int64(Loop.wallMicroseconds / 1_000)
        // Why a module is as it is: only where there is something to say.
        let hasReasons = modules.contains { $0["reason"]?.string?.isEmpty == false }
        var table = Table(
            columns: [
                .init("MODULE", isFlexible: true), .init("LEVEL", isFlexible: true), .init("PRIO", isRight: true),
                .init("STATE", isFlexible: true), .init("PID", isRight: true), .init("UPTIME", isRight: true),
                .init("RESTARTS", isRight: true), .init("OPEN", isRight: true), .init("WAITING", isRight: true),
                .init("QUEUED", isRight: true),
            ] + (hasReasons ? [.init("REASON", isFlexible: true)] : []))
        for module in modules {
            let reason = Table.Cell(module["reason"]?.string ?? "")
            table.add(Self.row(module, now: now) + (hasReasons ? [reason] : []))
        }
        table.print(answer.painter)
    }

    private static func row(_ module: JSON, now: Int64) -> [Table.Cell] {
        let state = module["state"]?.string ?? "?"
        let pid = module["pid"]?.integer ?? 0
        let since = module["since"]?.integer ?? 0
        let restarts = module["restarts"]?.integer ?? 0
        func count(_ member: String) -> Table.Cell {
            let value = module[member]?.integer ?? 0
            return .init("\(value)", value == 0 ? .dim : .plain)
        }
        return [
            .init(module["name"]?.string ?? "?", .bold),
            .init(module["level"]?.string ?? ""),
            .init("\(module["priority"]?.integer ?? 0)"),
            .init(isPending(module) ? "\(state), pending" : state, colour(ofState: state)),
            .init(pid > 0 ? "\(pid)" : "–"),
            .init(pid > 0 && since > 0 ? Duration.short(milliseconds: now - since) : "–"),
            .init("\(restarts)", restarts == 0 ? .dim : .yellow),
            count("open"), count("waiting"), count("queued"),
        ]
    }

    /// Whether its row has changes that take effect at its next start.
    private static func isPending(_ module: JSON) -> Bool {
        switch module["pending"] {
        case .bool(let pending): pending
        case .array(let keys): !keys.isEmpty
        case .null, .integer, .number, .string, .object, nil: false
        }
    }

    private static func colour(ofState state: String) -> Colour {
        switch state {
        case "ready": .green
        case "failed": .red
        case "absent": .dim
        default: .yellow
        }
    }
}
