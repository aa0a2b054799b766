import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// The protocol's section 13: things that are limited by number are also limited by the bytes of
/// their texts.
@Suite(.timeLimit(.hang))
struct TextLimitTests {
    private func observation(_ number: Int) -> JSON {
        ["name": "news", "object": .string("\(number)" + String(repeating: "x", count: 15_990))]
    }

    @Test(.promise("13.13")) func namesAndObjectsOfObservations() throws {
        try TestBus.run(.sixModules()) { bus in
            let observer = try bus.module("Ant", ["observes": ["a"]])
            var last: JSON = .null
            for number in 0..<65 { last = try observer.asked("bus/observe", observation(number)) }
            let error = try observer.refused("bus/observe", observation(65), with: "overloaded")
            #expect(error.message.contains("Ant would have observations whose texts have 1055"), "\(error)")
            #expect(error.message.contains("may have 1048576"), "\(error)")
            // Other peers have their own limit, and observations that end make room.
            try bus.module("Bee").asked("bus/observe", observation(0))
            try observer.asked("bus/unobserve", last)
            try observer.asked("bus/observe", observation(66))
        }
    }

    @Test(.promise("13.13")) func whatTheRowObservesIsCountedToo() throws {
        let table = AppTable.testing(
            .manual("Ant") { row in
                row.observes = (0..<63).map { .init(name: "\($0)", object: String(repeating: "x", count: 16_000)) }
            })
        try MemoryBus.run(table) { bus in
            let peer = try bus.connect()
            let hello = try peer.sendHello("Ant", ["observes": .array((0..<3).map(observation))])
            let error = try peer.expectRefusal(of: hello, "overloaded")
            #expect(error.message.contains("hello has observations whose texts have 1056"), "\(error)")
            let module = try bus.module("Ant", ["observes": .array((0..<2).map(observation))])
            try module.refused("bus/observe", observation(2), with: "overloaded")
        }
    }

    @Test(.promise("13.13")) func namesOfEventsThatAreSaidInParts() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.connect("Ant", answersLifecycle: true)
            try module.hello("Ant", ["more": true])
            // Each part has 61,440 bytes of names.
            func events(_ part: Int) -> JSON {
                .array(
                    (0..<240).map {
                        .string(
                            "\(1_000 * (part + 1) + $0)" + String(repeating: "x", count: 256 - 4 - (part > 8 ? 1 : 0)))
                    })
            }
            for part in 0..<17 { try module.asked("bus/register", ["events": events(part), "more": true]) }
            let error = try module.refused("bus/register", ["events": events(17), "more": true], with: "overloaded")
            #expect(error.message.contains("Ant would have events whose texts have 110"), "\(error)")
        }
    }

    @Test(.promise("13.13")) func patternsOfURLs() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let owner = try bus.provider("Ant", "Test")
            // Each request has 61,500 bytes.
            func urls(_ part: Int) -> JSON {
                .array(
                    (0..<15).map { number in
                        let path = "/\(part)/\(number)/" + String(repeating: "x", count: 4_080)
                        return ["host": "test", "path": .string(path), "to": "Test/act"]
                    })
            }
            for part in 0..<17 { try owner.asked("bus/register", ["urls": urls(part)]) }
            let error = try owner.refused("bus/register", ["urls": urls(17)], with: "overloaded")
            #expect(error.message.contains("URLs whose texts have 110"), "\(error)")
            // Registering one's own URLs again doesn't count twice.
            try owner.asked("bus/register", ["urls": urls(16)])
        }
    }

    /// An instance number that doesn't exist may have 16 KiB of digits.
    @Test(.promise("13.13")) func routesThatLeadToNoInstanceAreNotRemembered() {
        var routes = RouteTable()
        let owner = ModuleRecord(guest: "Ant", rank: 0, number: 1)
        routes.add(InterfaceRecord(name: "Test", owner: owner, isDeclared: false))
        for (digits, isRemembered) in [(16, true), (200, false)] {
            let to = Array("Test#\(String(repeating: "7", count: digits))/act".utf8)
            to.withUnsafeBytes { to in
                guard case .route = routes.resolve(to, AdapterTable([])) else {
                    Issue.record("\(digits) digits lead nowhere")
                    return
                }
                #expect((routes.route(to) != nil) == isRemembered)
            }
        }
    }
}
