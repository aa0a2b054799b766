import StrataCore
import Testing

@testable import StrataTesting

/// The protocol's section 6: the depth of a chain of requests, each made for the one before.
@Suite(.timeLimit(.hang))
struct DepthTests {
    private func run(
        depth: Int, _ table: AppTable = .sixModules(), _ test: (TestBus, RawPeer, RawPeer) throws -> Void
    ) throws {
        var table = table
        table.limits.depth = depth
        try MemoryBus.run(table) { bus in
            try test(
                bus, try bus.provider("Ant", "Shop", ["observes": ["news"], "events": ["tick"]]),
                try bus.provider("Bee", "User", ["observes": ["news"], "events": ["tick"]]))
        }
    }

    /// Two modules call each other, until the broker ends the circle.
    @Test(.promise("6.32", "12.30", "13.42"), arguments: [1, 2, 5, 32])
    func aCircleEndsAtTheLimit(depth: Int) throws {
        try run(depth: depth) { bus, shop, user in
            try bus.operator().call("Shop/loop")
            var parent = try shop.expectCall("Shop/loop")
            for number in 1..<depth {
                let (from, to) = number.isMultiple(of: 2) ? (user, shop) : (shop, user)
                let interface = number.isMultiple(of: 2) ? "Shop" : "User"
                try from.call("\(interface)/loop", nil, ["parent": parent.number])
                parent = try to.expectCall("\(interface)/loop")
            }
            let last = depth.isMultiple(of: 2) ? user : shop
            let error = try last.refused("User/loop", nil, ["parent": parent.number], with: "too-deep")
            #expect(error.message.hasPrefix("a chain of \(depth + 1) requests, and limits.depth is \(depth): "))
            let first = ["Shop/loop", "User/loop", "Shop/loop"].prefix(depth).joined(separator: " → ")
            #expect(error.message.contains(": \(first) → ") && error.message.hasSuffix(" → User/loop"), "\(error)")
            #expect(error.message.contains(" → … → ") == (depth > 7), "\(error)")
            // Without that parent, a chain begins anew.
            try last.call("User/loop")
            try user.expectCall("User/loop")
        }
    }

    @Test(.promise("6.32")) func theDefaultIs32AndHelloTellsIt() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.connect("Ant")
            let hello = try peer.hello("Ant", [:])
            #expect(hello["limits"]?["depth"] == 32)
        }
    }

    /// The message fits the smallest header that a manifest can allow.
    @Test(.promise("6.32", "12.29")) func theMessageHasABound() throws {
        let long = String(repeating: "x", count: 64)
        var table = AppTable.testing(.manual(long, provides: [long])) { $0.limits.header = 1_024 }
        table.limits.depth = 20
        try MemoryBus.run(table) { bus in
            let owner = try bus.provider(long, long)
            try owner.call("\(long)/\(long)")
            for _ in 1..<20 {
                let call = try owner.expectCall("\(long)/\(long)")
                try owner.call("\(long)/\(long)", nil, ["parent": call.number])
            }
            let call = try owner.expectCall("\(long)/\(long)")
            let error = try owner.refused("\(long)/\(long)", nil, ["parent": call.number], with: "too-deep")
            #expect(error.message.contains("limits.depth is 20"))
            #expect((900...2_048).contains(error.headerBytes.count), "\(error.headerBytes.count)")
        }
    }

    /// Every kind of request that has a parent is refused, also an action of the bus.
    @Test(.promise("6.32")) func everyKindOfRequestCounts() throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["Shop"]) { $0.urls = [.init(host: "shop", path: "/", to: "Shop/act")] },
            .manual("Bee", rank: 1))
        try run(depth: 1, table) { bus, shop, user in
            try bus.operator().call("Shop/act")
            let parent: JSON = ["parent": try shop.expectCall("Shop/act").number]
            func refused(_ id: UInt64, _ name: String) throws {
                let error = try shop.expectError(to: id, "too-deep", ran: "no")
                #expect(error.message.hasSuffix("Shop/act → \(name)"), "\(error)")
            }
            try refused(try shop.call("User/act", nil, parent), "User/act")
            try refused(try shop.open("test://shop/", parent), "a URL")
            try refused(try shop.report("news", to: "Ant", nil, parent), "news")
            for action in ["ping", "modules", "emit", "create"] {
                try refused(try shop.call("bus/\(action)", [:], parent), "bus/\(action)")
            }
            // A parent that isn't open is found first.
            try shop.refused("User/act", nil, ["parent": 77], with: "cancelled")
        }
    }

    /// What the broker calls for a request is as deep as that request, so a circle through it ends.
    @Test(.promise("6.33"), arguments: ["event", "report", "authorizer", "released"])
    func aCircleThroughTheBrokersOwnCallsEnds(_ through: String) throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["Shop"]) { $0.emits = ["tick"] }, .manual("Bee", rank: 1, provides: ["User"])
        ) { $0.authorizer = "Shop" }
        try run(depth: 6, table) { bus, shop, user in
            try user.asked("bus/register", ["interfaces": ["Safe": ["actions": ["open": ["auth": true]]]]])
            try shop.asked("bus/register", ["interfaces": ["Cart": ["instances": "multiple"]]])
            try bus.operator().call("Shop/act")
            var parent = try shop.expectCall("Shop/act")
            var rounds = 0
            while true {
                let members: JSON = ["parent": parent.number]
                let id: UInt64
                switch through {
                case "event": id = try shop.call("bus/emit", nil, members.with(["name": "tick"]))
                case "report": id = try shop.report("news", to: "Ant", nil, members)
                case "authorizer": id = try shop.call("Safe/open", nil, members)
                default:
                    let cart = try shop.asked("bus/create", ["interface": "Cart"])
                    id = try shop.call("bus/release", cart, members)
                }
                let next = try shop.find(["kind": "error", "id": .integer(Int64(id))], orAny: through)
                if next.kind == "error" {
                    #expect(next.code == "too-deep", "\(next)")
                    break
                }
                parent = next
                rounds += 1
                try #require(rounds < 20)
            }
            #expect(rounds == 5)
        }
    }

    /// A chain goes on below a step of a module's start.
    @Test(.promise("6.33")) func aStepOfTheStartIsTheFirstOfItsChain() throws {
        let table = AppTable.testing(.manual("Ant"), .manual("Bee", rank: 1, provides: ["User"])) {
            $0.limits.depth = 2
        }
        try MemoryBus.run(table) { bus in
            let user = try bus.provider("Bee", "User")
            let late = try bus.connect("Ant")
            try late.hello("Ant", [:])
            let setUp = try late.expectCall("module/setUp")
            try late.call("User/act", nil, ["parent": setUp.number])
            let call = try user.expectCall("User/act")
            let error = try user.refused("User/act", nil, ["parent": call.number], with: "too-deep")
            #expect(error.message.hasSuffix(": module/setUp → User/act → User/act"), "\(error)")
            // The end of such a step cancels nothing.
            try late.reply(to: setUp)
            try late.expectCall("module/initialize")
            try user.reply(to: call)
            try late.find(["kind": "reply"])
        }
    }

    @Test(.promise("6.32")) func theDepthOutlivesTheBroker() throws {
        let table = AppTable.sixModules { $0.limits.depth = 2 }
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { bus in
            let shop = try bus.provider("Ant", "Shop")
            try bus.operator().call("Shop/act")
            let first = try shop.expectCall("Shop/act")
            try shop.call("Shop/act", nil, ["parent": first.number])
            let second = try shop.expectCall("Shop/act")
            try memory.resume(try memory.writtenDown())
            let error = try shop.refused("Shop/act", nil, ["parent": second.number], with: "too-deep")
            #expect(error.message.hasSuffix(": Shop/act → Shop/act → Shop/act"), "\(error)")
        }
    }
}

extension RawPeer {
    /// Returns the next frame that is either this answer or something to serve: a notice, or a call
    /// of the bus's.
    fileprivate func find(_ answer: JSON, orAny through: String) throws -> ReceivedFrame {
        while true {
            let frame = try next()
            if frame.matches(answer) || frame.kind == "call" || frame.kind == "notice" { return frame }
        }
    }
}
