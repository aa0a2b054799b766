internal import FaultRecord

/// The app's manifest on one node. Each reload writes a variation of it.
struct AppManifest {
    let programs: String
    let placement: RolePlacement
    /// The NATS server of an app of several nodes.
    let server: NATSProcess?
    /// The number of times that it was rewritten.
    var round = 0
    /// The role whose row has another URL than on the other nodes; empty for none.
    var different = ""

    init(programs: String, placement: RolePlacement, server: NATSProcess?) {
        (self.programs, self.placement, self.server) = (programs, placement, server)
    }

    var text: String {
        """
        app: faults
        schemes: [faults]
        authorizer: Guard
        guests: {level: topout, most: 4}
        settings: {round: \(round)}
        limits: {queue: 1MiB, calls: \(1_024 - round % 2 * 24)}
        \(nodes)modules:
        \(Role.rows.map(row).joined(separator: "\n"))
        adapters:
          \(Role.adapter):
            to: Press
            actions:
              stamp: {to: press, params: {stampNumber: number}, result: {stamped: number}}
            notices: {Press.news: \(Role.adaptedNews)}

        """
    }

    private var nodes: String {
        guard let server else { return "" }
        let names = placement.nodes.compactMap { placement.name(of: $0) }
        let lines = names.map { "  \($0): {operates: true, key: \(server.key(of: $0))}\n" }
        let ca = server.certificate.map { ", ca: \($0)" } ?? ""
        return
            "nodes:\n\(lines.joined())federation: {servers: [\"\(server.url)\"], lost: \(RolePlacement.lost)ms\(ca)}\n"
    }

    private func row(_ role: Role) -> String {
        let program = role.player == .raw ? "faults-peer" : "faults-module"
        let provides = role.hasInstances ? "\(role.name), \(role.instances)" : role.name
        var lines = [
            "level: \(Role.levels[role.rank])", "run: [\(programs)/\(program)]", "start: \(role.start.rawValue)",
            "restart: \(role.restart)", "replace: \(role.overlaps ? "overlap" : "wait")", "provides: [\(provides)]",
            "stop: 8s", "backoff: {first: 10ms, most: 200ms, reset: 300ms}", "emits: [bell.rings]",
        ]
        if placement.hasNodes { lines.append("node: \(placement.manifestValue(of: role))") }
        if role.player == .runtime {
            let name = role.name.lowercased()
            let other = role.name == different ? ", \"\(name)/other/:number\": \(role.name)/echo" : ""
            lines.append("urls: {\"\(name)/do/:number\": \(role.name)/echo\(other)}")
        }
        if let replicas = role.replicas, !placement.hasNodes {
            lines.append("replicas: {least: \(replicas.lowerBound), most: \(replicas.upperBound)}")
        }
        if let idle = role.idle { lines.append("idle: \(idle)") }
        if let ping = role.ping { lines.append("ping: \(round % 3 == 2 ? "900ms" : ping)") }
        return "  \(role.name):\n" + lines.map { "    \($0)" }.joined(separator: "\n")
    }
}
