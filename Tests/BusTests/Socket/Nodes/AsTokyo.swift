import StrataCore
import StrataTesting

/// Runs a test on berlin's bus, with a connection that speaks as tokyo's broker and has agreed on the
/// app.
/// - Parameters:
///   - numbers: whether it says which observations it knows.
///   - retains: whether it answers asks for retained broadcasts.
func asTokyo(
    _ table: AppTable = .twoNodes(), numbers: Bool = false, retains: Bool = false,
    _ test: (TestBus, RawPeer) throws -> Void
) throws {
    var table = table
    table.node = "berlin"
    try TestBus.run(table) { bus in
        try test(bus, try NodeHostilityTests.tokyo(of: bus, numbers: numbers, retains: retains))
    }
}

extension NodeHostilityTests {
    /// Returns a connection that speaks as tokyo's broker, and has agreed on the app with berlin's.
    /// - Parameters:
    ///   - hasLink: whether the link is connected already.
    ///   - numbers: whether tokyo says which of berlin's observations it knows.
    ///   - retains: whether tokyo answers asks for retained broadcasts.
    ///   - change: what tokyo says of itself, which is otherwise what berlin has said.
    static func tokyo(
        of bus: TestBus, hasLink: Bool = false, numbers: Bool = false, retains: Bool = false,
        _ change: (inout [JSON.Member]) -> Void = { _ in }
    ) throws -> RawPeer {
        if !hasLink { _ = try TestNodes.link(of: bus) }
        let line = try TestNodes.line(to: "tokyo", of: bus)
        var isWhole = false
        while !isWhole {
            let facts = try line.expect(["kind": "node"])
            var body = facts.json.object?.map { $0.name == "node" ? .init("node", "tokyo") : $0 } ?? []
            if !numbers { body.removeAll { $0.name == "subscription" } }
            if !retains { body.removeAll { $0.name == "retains" } }
            change(&body)
            try line.send(["kind": "node"], body: .object(body))
            isWhole = facts.json["more"] != true
        }
        try TestNodes.wait(for: "up", of: "tokyo", on: bus)
        return line
    }
}

extension RawPeer {
    /// Waits until a bus has handled what this connection of another node has sent.
    func settleNode() throws {
        let id = try call("Nobody/there", nil, ["from": "Index"], id: 1 << 40)
        try expectError(to: id, "unknown-interface")
    }
}
