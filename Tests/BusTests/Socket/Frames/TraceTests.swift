import StrataCore
import StrataTesting
import Testing

/// The protocol's section 3: `trace` and `meta` are passed on with every kind.
@Suite(.timeLimit(.hang))
struct TraceTests {
    private static let carried = #""trace":"00-\u0061b-\/","meta":{ "b":1.50e2, "a":"\u00e9" }"#

    private func carries(_ frame: ReceivedFrame, line: Int = #line) {
        let header = String(decoding: frame.headerBytes, as: UTF8.self)
        #expect(header.contains(Self.carried), "line \(line): \(header)")
    }

    @Test(.promise("3.4")) func aStreamCarriesThemInBothDirections() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.send(header: #"{"kind":"call","id":900,"to":"Test/list",\#(Self.carried)}"#)
            let call = try callee.expectCall("Test/list")
            carries(call)
            try callee.send(header: #"{"kind":"reply","id":\#(call.id),"more":true,\#(Self.carried)}"#)
            carries(try caller.expect(["kind": "reply", "more": true]))
            try caller.send(header: #"{"kind":"credit","id":900,"credit":1,\#(Self.carried)}"#)
            carries(try callee.expect(["kind": "credit"]))
            try caller.send(header: #"{"kind":"cancel","id":900,\#(Self.carried)}"#)
            carries(try callee.expect(["kind": "cancel"]))
        }
    }

    @Test(.promise("3.4")) func anErrorCarriesThem() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            let call = try callee.expectCall("Test/act")
            try callee.send(header: #"{"kind":"error","id":\#(call.id),"code":"a.b","message":"m",\#(Self.carried)}"#)
            carries(try caller.expectError(to: id, "a.b", ran: "yes"))
        }
    }

    @Test(.promise("3.4")) func anOpenAndABroadcastCarryThem() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.provider(
                "Cat", "Test", ["urls": [["host": "test", "path": "/", "to": "Test/act"]], "observes": ["news"]])
            let sender = try bus.module("Ant")
            try sender.send(header: #"{"kind":"open","id":900,"url":"test://test",\#(Self.carried)}"#)
            carries(try owner.expectCall("Test/act"))
            try sender.send(header: #"{"kind":"broadcast","name":"news",\#(Self.carried)}"#)
            carries(try owner.expectNotice("news"))
        }
    }

    @Test(.promise("3.4"), arguments: ["all", "any"]) func anEmitCarriesThemToEachListener(_ policy: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let listeners = try ["Ant", "Bee"].map { try bus.module($0, ["events": ["app.suspend"]]) }
            let carried = #""trace":"00-\u0061b-\/","meta":{ "policy": "\#(policy)", "a":"\u00e9" }"#
            let tool = try bus.operator()
            try tool.send(header: #"{"kind":"call","id":900,"to":"bus/emit","name":"app.suspend",\#(carried)}"#)
            for listener in listeners {
                let call = try listener.expectCall("module/event")
                #expect(String(decoding: call.headerBytes, as: UTF8.self).contains(carried))
                try listener.reply(to: call, false)
            }
            try tool.expectReply(to: 900)
        }
    }

    /// Calls that wait keep them, too.
    @Test(.promise("3.4")) func aCallThatWaitsCarriesThem() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.connect("Ant")
            try owner.hello("Ant", ["interfaces": ["Test": [:]], "observes": ["news"]])
            let caller = try bus.module("Bee")
            try caller.send(header: #"{"kind":"call","id":900,"to":"Test/act",\#(Self.carried)}"#)
            try caller.send(header: #"{"kind":"report","id":901,"to":"Ant","name":"news",\#(Self.carried)}"#)
            try caller.settle()
            for step in ["setUp", "initialize"] { try owner.reply(to: try owner.expectCall("module/\(step)")) }
            carries(try owner.find(["kind": "call", "to": "Test/act"]))
            carries(try owner.find(["kind": "notice"]))
        }
    }
}
