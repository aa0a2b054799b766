import StrataCore
import StrataTesting

@testable import StrataBus

/// An app in which something of each kind is open, whatever happens to its bus meanwhile.
struct OpenApp {
    private let gate: RawPeer
    private let owner: RawPeer
    private let late: RawPeer
    private let caller: RawPeer
    private let tool: RawPeer
    private let launcher: RawPeer
    private let silent: RawPeer

    private let bought: ReceivedFrame
    private let setUp: ReceivedFrame
    private let list: ReceivedFrame
    private let notice: ReceivedFrame
    private let question: ReceivedFrame
    private let event: ReceivedFrame
    private let reloading: ReceivedFrame
    private let (buy, held, safe, stream, report, emit, watch, monitor, reload):
        (
            UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
        )
    private let instance: String

    static let table = AppTable.testing(
        .manual("Ant", provides: ["Gate"]), .manual("Shop"),
        .eager("Late", provides: ["Late"]) { $0.start = .async }, .manual("Bee", rank: 1)
    ) { table in
        table.authorizer = "Gate"
        table.settings = ["shop.name": "Fruit"]
        var old = AppTable.Adapter(name: "Old", to: "Shop")
        var buy = AppTable.AdaptedAction(name: "buy", to: "buy")
        buy.result = [AppTable.Rename(from: "sum", to: "price")]
        old.actions = [buy]
        table.adapters = [old]
    }

    /// Opens everything.
    init(_ bus: TestBus) throws {
        launcher = try bus.launcher()
        gate = try bus.module("Ant", ["interfaces": ["Gate": [:]]])
        owner = try bus.module(
            "Shop",
            [
                "interfaces": [
                    "Shop": ["version": "2.1"],
                    "Safe": ["actions": ["open": ["auth": true], "doors": ["stream": true]]],
                    "Cart": ["instances": "multiple"],
                ],
                "urls": [["host": "shop", "path": "/item/:id", "to": "Shop/item"]],
                "observes": ["sold"], "events": ["day.ended"],
                "settings": ["shop.name", ["name": "shop.key", "secret": true]],
            ])
        try owner.asked("bus/mark", ["name": "filled"])
        caller = try bus.module(
            "Bee",
            [
                "observes": ["price", ["name": "stock", "object": "pears", "keep": "latest"]],
                "requires": ["Shop@2.0", "Gate"],
            ])
        try owner.expectReply(to: try owner.broadcast("opened", 0, ["retain": true, "object": "today"]))
        tool = try bus.operator()
        buy = try caller.call("Old/buy", 1, ["deadline": 60_000])
        bought = try owner.expectCall("Shop/buy", 1)
        try owner.refused("Nobody/act", nil, ["parent": bought.number], with: "unknown-interface")
        late = try bus.connect("Late")
        try late.hello("Late", ["token": .string(try bus.vouch(for: "Late")), "interfaces": ["Late": [:]]])
        setUp = try late.expectCall("module/setUp")
        held = try caller.call("Late/act", 2)
        safe = try caller.call("Safe/open", 3)
        question = try gate.expectCall("Gate/authorize", 3)
        stream = try caller.call("Shop/list", nil, ["credit": 2])
        list = try owner.expectCall("Shop/list")
        try owner.partialReply(to: list, 1)
        try caller.find(["kind": "reply", "id": stream.json, "more": true], body: 1)
        report = try caller.report("sold", to: "Shop", 4)
        notice = try owner.expectNotice("sold", 4)
        emit = try tool.call("bus/emit", nil, ["name": "day.ended", "meta": ["policy": "all"]])
        event = try owner.find(["kind": "call", "to": "module/event"])
        instance = try caller.asked("bus/create", ["interface": "Cart"])["instance"]?.string ?? ""
        watch = try tool.call("bus/watch", nil, ["credit": 100])
        monitor = try tool.call("bus/monitor", ["name": "price"], ["credit": 100])
        reload = try tool.call("bus/reload")
        reloading = try launcher.expectCall("launcher/reload")
        silent = try bus.connect("one that is in its hello")
        try silent.send(bytes: [0, 0, 0])
        try tool.settle()
        _ = try tool.drain()
    }

    /// Ends everything, which shows that all of it has survived.
    func finish() throws {
        // The adapter's result is renamed for the caller.
        try owner.reply(to: bought, ["price": 5])
        try caller.find(["kind": "reply", "id": buy.json], body: ["sum": 5])
        try late.reply(to: setUp)
        try late.reply(to: try late.expectCall("module/initialize"))
        try late.reply(to: try late.find(["kind": "call", "to": "Late/act"], body: 2), 6)
        try caller.find(["kind": "reply", "id": held.json], body: 6)
        try gate.reply(to: question, ["allow": true])
        try owner.reply(to: try owner.find(["kind": "call", "to": "Safe/open"], body: 3), 7)
        try caller.find(["kind": "reply", "id": safe.json], body: 7)
        try owner.partialReply(to: list, 2)
        try caller.find(["kind": "reply", "id": stream.json, "more": true], body: 2)
        try owner.reply(to: list, 3)
        try caller.find(["kind": "reply", "id": stream.json], body: 3)
        try owner.reply(to: notice)
        try caller.find(["kind": "reply", "id": report.json], body: ["observers": 1])
        try owner.reply(to: event, true)
        try tool.find(["kind": "reply", "id": emit.json], body: ["answer": true])
        try tool.find(["kind": "reply", "id": watch.json, "more": true], body: ["module": "Late", "state": "ready"])
        try launcher.fail(reloading, "bad-params", "no such level")
        try tool.find(["kind": "error", "id": reload.json])
        let add = try caller.call("\(instance)/add", 8)
        try owner.reply(to: try owner.find(["kind": "call", "to": .string("\(instance)/add")]), 9)
        try caller.find(["kind": "reply", "id": add.json], body: 9)
        try owner.broadcast("price", 10)
        try caller.expectNotice("price", 10)
        try tool.find(["kind": "reply", "id": monitor.json], body: ["kind": "broadcast", "name": "price"])
        try owner.broadcast("stock", 11, ["object": "pears"])
        try caller.expectNotice("stock", 11)
        let item = try caller.open("test://shop/item/5")
        try owner.reply(to: try owner.find(["kind": "call", "to": "Shop/item"]), 12)
        try caller.find(["kind": "reply", "id": item.json], body: 12)
    }
}

extension UInt64 {
    /// A request's number, as headers have it.
    fileprivate var json: JSON { .integer(Int64(self)) }
}
