import StrataCore
import StrataTesting
import Testing

@testable import StrataBus
@testable import StrataManifest

/// The bus, from its tables, and `strata why`, from the manifest, give the same answer.
@Suite(.timeLimit(.hang))
struct OneJudgeTests {
    /// A host that is never called, because the facts are in tables.
    private final class Host: BusHost {
        func takeDescriptors(of peer: Peer) {}
        func write(to peer: Peer) {}
        func process(of peer: Peer) -> ProcessIdentity? { nil }
        func descent(of peer: Peer, from process: ProcessIdentity) -> Ancestors.Descent? { nil }
        func process(_ pid: Int32) -> ProcessIdentity? { nil }
        func isAlive(_ process: ProcessIdentity) -> Bool { true }
        func connect(to app: OtherApp) throws(BusError) -> Peer { throw BusError(.unavailable, "there is none") }
        var wallMicroseconds: UInt64 { 0 }
        var steadyNanoseconds: UInt64 { 0 }
        var processID: Int32 { 0 }
    }

    /// An app in which Ant sends to Bee, and both have an interface of their own.
    private final class App {
        let judge: Judge
        let core: BusCore
        private let host = Host()
        private var peers: [String: Peer] = [:]

        /// - Parameter isDeclared: whether Ant's row declares everything that it sends.
        init(_ calls: AppTable.CallPolicy, from rank: Int, to target: Int, isDeclared: Bool, authorizer: Bool) throws {
            let levels = ["basic", "middle", "topout"]
            let declared = "requires: [Bee, Many], broadcasts: [news], reports: {Bee: [news]}, emits: [tidy]"
            let reviewed = try ReviewedApp(
                """
                calls: \(calls.rawValue)
                \(authorizer ? "authorizer: Guard" : "")
                modules:
                  Ant: {level: \(levels[rank]), provides: [Ant]\(isDeclared ? ", \(declared)" : "")}
                  Bee: {level: \(levels[target]), provides: [Bee, Many, Guard]}
                """,
                hellos: [
                    "Ant": #""interfaces":{"Ant":{"actions":{"x":{}}}}"#,
                    "Bee": #"""
                    "interfaces":{"Bee":{"actions":{"x":{},"guarded":{"auth":true}}},"Many":{"instances":"multiple"},
                    "Guard":{"actions":{"authorize":{"auth":true}}}}
                    """#,
                ])
            judge = reviewed.judge
            core = BusCore(host, table: reviewed.manifest.table, user: 0, time: 0)
            for (number, module) in core.modules.rows.enumerated() {
                let peer = Peer(
                    number: UInt64(number + 1), credentials: PeerCredentials(pid: 1, uid: 0, gid: 0, seenAt: 0),
                    outbox: Outbox(pool: core.pool))
                peer.identify(as: .module, module, rank: module.rank)
                module.serve(by: peer)
                module.take(.joined(resumed: true))
                peers[module.name] = peer
                for brought in reviewed.descriptions[module.name]?.interfaces ?? [] {
                    let record = core.routes.interface(brought.name)
                    let interface = try #require(record)
                    interface.isLive = true
                    interface.instances = brought.isMultiple ? .multiple : .single
                    interface.actions = brought.actions?.map {
                        InterfaceRecord.Action(
                            name: $0.name, nameBytes: Array($0.name.utf8), needsAuthorization: $0.needsAuthorization)
                    }
                }
            }
        }

        func bus(
            _ kind: MessageKind, to interface: String? = nil, _ name: String, instance: UInt64? = nil,
            _ use: (LiveFacts) -> Void
        ) throws {
            let interface = interface.flatMap { core.routes.interface($0) }
            let owner = interface?.owner ?? (kind == .report ? core.modules.find("Bee") : nil)
            let peer = try #require(peers["Ant"])
            Array(name.utf8).withUnsafeBytes { name in
                use(
                    LiveFacts(
                        core: core, kind: kind, peer: peer, owner: owner, interface: interface, name: name,
                        instance: instance))
            }
        }
    }

    /// Checks that each check of `why` has the bus's result, unless it depends on the running
    /// app. A refusal must have the bus's code.
    private func agree(_ why: Judgement, _ bus: LiveFacts) {
        let shown = bus.kind.checks.filter { check in why.checks.contains { $0.name == check.name } }
        #expect(why.checks.map(\.name) == shown.map(\.name), "\(why)")
        for (check, said) in zip(shown, why.checks) where said.result != .depends {
            let result: Judgement.Check.Result =
                switch bus.verdict(check) {
                case .passed: .passed
                case .refused: .refused
                case .free: .free
                case .depends: .depends
                }
            #expect(said.result == result, "\(said) \(why.subject)")
        }
        let answer = bus.error(.existence ... .instance) ?? bus.error(.authorization ... .authorization)
        if !why.depends { #expect(why.code == answer?.code, "\(why) \(String(describing: answer))") }
        #expect(why.code == nil || answer != nil)
    }

    @Test(.promise("M.58"), arguments: [AppTable.CallPolicy.any, .layered, .declared], [false, true])
    func theBusAndWhyGiveOneAnswer(_ calls: AppTable.CallPolicy, _ isDeclared: Bool) throws {
        for (rank, target) in (0..<9).map({ ($0 / 3, $0 % 3) }) {
            let app = try App(calls, from: rank, to: target, isDeclared: isDeclared, authorizer: rank == 1)
            let calls: [(to: String, interface: String, name: String, instance: UInt64?)] = [
                ("Bee/x", "Bee", "x", nil), ("Bee/y", "Bee", "y", nil), ("Bee/guarded", "Bee", "guarded", nil),
                ("Bee#1/x", "Bee", "x", 1), ("Many/x", "Many", "x", nil), ("Many#1/x", "Many", "x", 1),
                ("Guard/authorize", "Guard", "authorize", nil), ("Ant/x", "Ant", "x", nil), ("Ant/y", "Ant", "y", nil),
            ]
            for call in calls {
                let why = app.judge.call(call.to, from: "Ant")
                try app.bus(.call, to: call.interface, call.name, instance: call.instance) { agree(why, $0) }
            }
            try app.bus(.report, "news") { agree(app.judge.report("news", to: "Bee", from: "Ant"), $0) }
            try app.bus(.broadcast, "news") { agree(app.judge.broadcast("news", from: "Ant"), $0) }
            try app.bus(.event, "tidy") { agree(app.judge.emit("tidy", from: "Ant"), $0) }
        }
    }

    /// The bus's message about a level names both levels.
    @Test func theBussMessagesNameBothLevels() throws {
        let app = try App(.declared, from: 0, to: 2, isDeclared: false, authorizer: false)
        for kind in [MessageKind.call, .report] {
            try app.bus(kind, to: kind == .call ? "Bee" : nil, "x") { facts in
                let levels = facts.error(.level ... .level)
                #expect(levels?.message.contains("basic") == true && levels?.message.contains("topout") == true)
                let declaration = facts.error(.declaration ... .declaration)
                #expect(declaration?.code == .undeclared && declaration?.message.contains("basic") == true)
            }
        }
    }
}
