internal import StrataCore

/// Two nodes of one app, `berlin` and `tokyo`, each with a broker of its own. The test plays the link
/// between them, and may hold, cut or forge what passes.
package final class TestNodes {
    package let berlin: TestBus
    package let tokyo: TestBus
    /// The link's connections, in berlin and in tokyo.
    package private(set) var links: [RawPeer] = []
    /// The connections to the other node's broker, in berlin and in tokyo.
    package private(set) var lines: [RawPeer] = []

    /// - Parameters:
    ///   - table: the app's table, without a node of its own.
    ///   - change: what tokyo's table has otherwise.
    package init(_ table: AppTable, inTokyo change: (inout AppTable) -> Void = { _ in }) throws {
        let group = PeerGroup()
        berlin = try TestBus(Self.table(table, of: "berlin"), group)
        var other = Self.table(table, of: "tokyo")
        change(&other)
        tokyo = try TestBus(other, group)
    }

    /// Runs a test on two nodes that are joined, and ends both.
    package static func run(
        _ table: AppTable, inTokyo change: (inout AppTable) -> Void = { _ in }, isJoined: Bool = true,
        _ test: (TestNodes) throws -> Void
    ) throws {
        let nodes = try TestNodes(table, inTokyo: change)
        try nodes.berlin.run { _ in
            try nodes.tokyo.run { _ in
                if isJoined { try nodes.join() }
                try test(nodes)
            }
        }
    }

    /// Runs a test of one bus on two, with all rows that provide interfaces on the second one.
    static func spread<Result>(_ table: AppTable, _ test: (TestBus) throws -> Result) throws -> Result {
        var table = table
        for place in table.modules.indices {
            table.modules[place].placement = .on([table.modules[place].provides.isEmpty ? "berlin" : "tokyo"])
        }
        table.nodes = [.init("berlin", operates: true), .init("tokyo", operates: true)]
        let nodes = try TestNodes(table)
        nodes.berlin.away = nodes.tokyo
        return try nodes.tokyo.run { _ in
            try nodes.berlin.run { bus in
                try nodes.join()
                return try test(bus)
            }
        }
    }

    /// Returns an app's table as a node has it.
    static func table(_ table: AppTable, of node: String) -> AppTable {
        var table = table
        if table.nodes.isEmpty { table.nodes = [.init("berlin"), .init("tokyo")] }
        table.node = node
        // Another node's rows have no replicas here.
        for place in table.modules.indices where table.modules[place].isAway(from: node) {
            table.modules[place].name = ReplicaName.row(of: table.modules[place].name)
            table.modules[place].replica = nil
        }
        var names: Set<String> = []
        table.modules.removeAll { !names.insert($0.name).inserted }
        return table
    }

    /// The two buses, with the name of the node that each one's link leads to.
    private var buses: [(bus: TestBus, other: String)] { [(berlin, "tokyo"), (tokyo, "berlin")] }

    /// The number of bytes that the link has passed on from berlin's broker to tokyo's.
    package var bytesToTokyo: Int { lines[0].relayedBytes }

    /// Makes tokyo hear nothing more of berlin, whose frames wait at the link instead.
    package func holdBerlin() { lines[0].relay = nil }

    /// Makes berlin hear nothing more of tokyo.
    package func holdTokyo() { lines[1].relay = nil }

    /// Makes the link of each node, and joins the two.
    /// - Parameter state: the state in which each node sees the other one then.
    package func join(until state: String = "up") throws {
        for (bus, _) in buses where links.count < 2 { links.append(try Self.link(of: bus)) }
        try connectLines()
        for (index, line) in lines.enumerated() { line.relay = lines[1 - index] }
        // What has arrived before is passed on.
        for (index, line) in lines.enumerated() {
            for frame in line.inbox { try line.pass(frame, to: lines[1 - index]) }
            line.inbox = []
        }
        for (bus, other) in buses { try Self.wait(for: state, of: other, on: bus) }
    }

    /// Makes the connections of both links, and passes nothing on.
    package func connectLines() throws {
        lines = try buses.map { try Self.line(to: $0.other, of: $0.bus) }
    }

    /// Connects a link's process to a bus, whose launcher vouches for this process.
    package static func link(of bus: TestBus) throws -> RawPeer {
        try bus.launcher().asked("bus/vouch", ["link": true, "token": "link", "pid": .integer(Int64(bus.ownPID))])
        let link = try bus.connect("the link")
        try link.asked("bus/hello", ["protocol": 1, "role": "link", "token": "link"])
        return link
    }

    /// Makes the link's connection for another node.
    package static func line(to node: String, of bus: TestBus) throws -> RawPeer {
        let line = try bus.connect("the link's connection for \(node)")
        try line.asked("bus/hello", ["protocol": 1, "role": "node", "node": .string(node), "token": "link"])
        return line
    }

    /// Waits until a bus says that another node is in a state.
    package static func wait(for state: String, of node: String, on bus: TestBus) throws {
        let tool = try bus.operator()
        let deadline = bus.group.deadline(TestBus.patience)
        while true {
            let answer = try tool.asked("bus/nodes")
            let found = answer["nodes"]?.array?.first { $0["name"]?.string == node }
            if found?["state"]?.string == state { return }
            guard !bus.group.hasPassed(deadline) else { throw TestFailure("\(node) isn't \(state): \(answer)") }
            try bus.group.pumpWhatIsThere()
        }
    }
}
