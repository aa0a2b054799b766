import StrataCore
import Testing

/// `--node` and `--all-nodes`.
@Suite(.timeLimit(.hang))
struct CommandNodeTests {
    private static let nodes = """
        {"nodes":[{"name":"berlin","own":true,"state":"up"},{"name":"tokyo","own":false,"state":"up"},\
        {"name":"osaka","own":false,"state":"lost"}]}
        """

    /// What a node lists: its own modules, and those of other nodes as it sees them.
    private static func modules(_ rows: (name: String, nodes: String, state: String)...) -> String {
        let listed = rows.map { #"{"name":"\#($0.name)","nodes":[\#($0.nodes)],"state":"\#($0.state)"}"# }
        return "{\"modules\":[\(listed.joined(separator: ","))]}"
    }

    private static let ofBerlin = modules(
        ("Notes", #""berlin""#, "ready"), ("Log", #""berlin""#, "ready"), ("Index", #""tokyo""#, "elsewhere"),
        ("Far", #""osaka""#, "unreachable"))
    private static let ofTokyo = modules(
        ("Notes", #""berlin""#, "ready"), ("Log", #""tokyo""#, "failed"), ("Index", #""tokyo""#, "starting"),
        ("Far", #""osaka""#, "unreachable"))

    private static let lost = "the node osaka can't be reached: osaka is lost: no sign"

    private static let script: FakeBus.Script = { asked in
        switch (asked.to, asked.node) {
        case ("bus/nodes", ""): [.reply(nodes)]
        case (_, "osaka"): [.error("unavailable", lost)]
        case ("bus/modules", "tokyo"): [.reply(ofTokyo)]
        case ("bus/modules", ""): [.reply(ofBerlin)]
        default: [.reply("{}")]
        }
    }

    @Test(
        .promise("N.17"),
        arguments: [
            ["ps"], ["logs"], ["monitor"], ["top", "--count", "1"], ["metrics"], ["timeline"], ["call", "Log/line"],
            ["start", "Log"], ["stop", "Log"], ["restart", "Log"], ["reload"], ["why", "--stuck"], ["routes"],
            ["levels"],
            ["open", "app://x/y"], ["can-open", "app://x/y"], ["report", "Log", "x"], ["emit", "x"],
        ])
    func eachRequestNamesTheNode(_ words: [String]) async throws {
        let (_, asked) = try await strata(
            words + ["--node", "tokyo"], features: [BrokerFeature.node], script: Self.script)
        #expect(!asked.isEmpty)
        #expect(asked.allSatisfy { $0.node == "tokyo" }, "\(asked.map { "\($0.to) \($0.node)" })")
    }

    @Test(.promise("N.17")) func aRequestWithoutItNamesNone() async throws {
        let (_, asked) = try await strata(["ps"], features: [BrokerFeature.node], script: Self.script)
        #expect(asked.map(\.node) == [""])
    }

    @Test(.promise("N.17")) func anAppOfOneMachineHasNoNodeToAsk() async throws {
        let (run, asked) = try await strata(["stop", "Log", "--node", "tokyo"], features: [], script: Self.script)
        #expect(run.status == 2 && run.error.contains("--node is for apps with nodes: fake runs on one machine"))
        #expect(asked.isEmpty)
        let (odd, _) = try await strata(["ps", "--node", "All!"], features: [], script: Self.script)
        #expect(odd.status == 64 || odd.status == 2)
    }

    @Test(.promise("N.17")) func aNodeThatIsLostIsToldAsTheBusSaysIt() async throws {
        let (run, _) = try await strata(
            ["ps", "--node", "osaka"], features: [BrokerFeature.node], script: Self.script)
        #expect(run.status == 1 && run.error == "strata: unavailable: \(Self.lost)\n" && run.output.isEmpty)
    }

    /// Log runs on each node, so it has a line for each that answers.
    @Test(.promise("N.17")) func allNodesAreJoined() async throws {
        let (run, asked) = try await strata(
            ["ps", "--all-nodes"], environment: ["NO_COLOR": "1"], output: .terminal(columns: 120),
            features: [BrokerFeature.node], script: Self.script)
        let shown = run.lines.prefix(6).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(
            shown == ["MODULE NODE", "Notes berlin", "Log berlin", "Log tokyo", "Index tokyo", "Far osaka"],
            "\(run.output)")
        #expect(run.lines[4].contains("starting") && run.lines[5].contains("unreachable"))
        #expect(run.error.hasSuffix("strata: osaka: unavailable: \(Self.lost)\n"))
        #expect(run.status == 1)
        #expect(
            asked.map { "\($0.to) \($0.node)" } == [
                "bus/modules ", "bus/nodes ", "bus/modules tokyo", "bus/modules osaka",
            ])
    }

    @Test(.promise("N.17")) func allNodesOfOneMachineAreItself() async throws {
        let (run, _) = try await strata(["ps", "--all-nodes"], features: []) { asked in
            [.reply(asked.to == "bus/nodes" ? #"{"nodes":[]}"# : CommandStatusTests.modules)]
        }
        #expect(run.lines.count == 2 && run.status == 0)
    }

    @Test(.promise("N.17")) func downWaitsUntilTheNodeIsLost() async throws {
        let (run, asked) = try await strata(["down", "--node", "tokyo"], features: [BrokerFeature.node]) { asked in
            asked.to == "bus/nodes"
                ? [.reply(Self.nodes.replacing(#""own":false,"state":"up""#, with: #""state":"lost""#))]
                : [.reply("{}")]
        }
        #expect(run.status == 0, "\(run.error)")
        #expect(asked.first?.to == "launcher/down" && asked.first?.node == "tokyo")
        #expect(asked.dropFirst().allSatisfy { $0.to == "bus/nodes" && $0.node == "" })
    }
}
