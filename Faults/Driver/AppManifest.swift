internal import FaultRecord

/// The app's manifest. Each reload writes a variation of it.
struct AppManifest {
    let programs: String
    /// The number of times that it was rewritten.
    var round = 0

    var text: String {
        """
        app: faults
        schemes: [faults]
        authorizer: Guard
        guests: {level: topout, most: 4}
        settings: {round: \(round)}
        limits: {queue: 1MiB, calls: \(1_024 - round % 2 * 24)}
        modules:
        \(Role.rows.map(row).joined(separator: "\n"))
        adapters:
          \(Role.adapter):
            to: Press
            actions:
              stamp: {to: press, params: {stampNumber: number}, result: {stamped: number}}
            notices: {Press.news: \(Role.adaptedNews)}

        """
    }

    private func row(_ role: Role) -> String {
        let program = role.player == .raw ? "faults-peer" : "faults-module"
        let provides = role.hasInstances ? "\(role.name), \(role.instances)" : role.name
        var lines = [
            "level: \(Role.levels[role.rank])", "run: [\(programs)/\(program)]", "start: \(role.start.rawValue)",
            "restart: \(role.restart)", "replace: \(role.overlaps ? "overlap" : "wait")", "provides: [\(provides)]",
            "stop: 8s", "backoff: {first: 10ms, most: 200ms, reset: 300ms}", "emits: [bell.rings]",
        ]
        if role.player == .runtime {
            lines.append("urls: {\"\(role.name.lowercased())/do/:number\": \(role.name)/echo}")
        }
        if let idle = role.idle { lines.append("idle: \(idle)") }
        if let ping = role.ping { lines.append("ping: \(round % 3 == 2 ? "900ms" : ping)") }
        return "  \(role.name):\n" + lines.map { "    \($0)" }.joined(separator: "\n")
    }
}
