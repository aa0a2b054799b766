import StrataCore
import StrataTesting
import Testing

/// The protocol's section 13: limits on numbers. Each has a message of its own, which names the
/// limit and its owner.
@Suite(.timeLimit(.hang))
struct NumberLimitTests {
    private func expect(
        _ error: ReceivedFrame, names limit: String, of whose: String, line: Int = #line
    ) {
        #expect(error.code == "overloaded" && error.ran == "no", "\(error)")
        #expect(error.message.contains("(\(limit))"), "line \(line): \(error)")
        #expect(error.message.contains(whose), "line \(line): \(error)")
    }

    @Test(.promise("12.9", "13.1")) func openRequests() throws {
        try MemoryBus.run(.sixModules { $0.limits.calls = 2 }) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee", ["observes": ["news"]])
            for _ in 0..<2 { try caller.call("Test/act") }
            expect(try caller.ask("Test/act"), names: "limits.calls", of: "Bee")
            // A report counts, but a request that the broker answers at once doesn't.
            let report = try caller.report("news", to: "Ant")
            expect(try caller.answer(to: report), names: "limits.calls", of: "Bee")
            try caller.asked("bus/ping")
            // The limit is the sender's own: other peers have theirs.
            try bus.module("Cat").call("Test/act")
            for _ in 0..<3 { try callee.expectCall("Test/act") }
        }
    }

    @Test(.promise("13.2")) func requestsThatWaitForOneModule() throws {
        let table = AppTable.testing(
            .eager("Login", provides: ["Login"]), .eager("Other", provides: ["Other"]), .manual("Hand", rank: 2)
        ) { $0.limits.waiting = 2 }
        try MemoryBus.run(table) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Hand")
            try caller.call("Login/act")
            try caller.report("news", to: "Login")
            expect(try caller.ask("Login/act"), names: "limits.waiting", of: "Login")
            let report = try caller.report("news", to: "Login")
            expect(try caller.answer(to: report), names: "limits.waiting", of: "Login")
            // Requests that wait for an instance are counted separately.
            for _ in 0..<2 { try caller.call("bus/create", ["interface": "Login"]) }
            expect(try caller.ask("bus/create", ["interface": "Login"]), names: "limits.waiting", of: "Login")
            // Another module has room of its own.
            try caller.call("Other/act")
            try caller.expectNothing()
        }
    }

    @Test(.promise("13.3")) func observations() throws {
        try MemoryBus.run(.sixModules { $0.limits.observations = 1 }) { bus in
            let peer = try bus.module("Ant", ["observes": ["a"]])
            expect(try peer.ask("bus/observe", ["name": "b"]), names: "limits.observations", of: "Ant")
            let second = try bus.connect()
            let hello = try second.sendHello("Bee", ["observes": ["a", "b"]])
            expect(
                try second.expectRefusal(of: hello, "overloaded"), names: "limits.observations", of: "2 observations")
            // The same observation in hello and in the row counts once.
            _ = try bus.module("Cat", ["observes": ["c"]])
        }
    }

    @Test(.promise("5.14", "13.3")) func whatRowAndHelloBothNameIsCountedOnce() throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["Test"]) { row in
                row.observes = [.init(name: "a")]
                row.urls = [.init(host: "test", path: "/:one", to: "Test/act")]
            }
        ) {
            $0.limits.observations = 1
            $0.limits.urls = 1
        }
        try MemoryBus.run(table) { bus in
            let same: JSON = ["host": "test", "path": "/:other", "to": "Test/act"]
            let peer = try bus.provider("Ant", "Test", ["observes": ["a"], "urls": [same]])
            peer.close()
            try bus.waitUntil("Ant", is: "absent")
            let more = try bus.connect()
            let further: JSON = ["host": "test", "path": "/a/b", "to": "Test/act"]
            let hello = try more.sendHello("Ant", ["interfaces": ["Test": [:]], "urls": [further]])
            expect(try more.expectRefusal(of: hello, "overloaded"), names: "limits.urls", of: "2 URLs")
        }
    }

    @Test(.promise("13.4")) func interfacesAndURLs() throws {
        try MemoryBus.run(
            .sixModules {
                $0.limits.interfaces = 1
                $0.limits.urls = 1
            }
        ) { bus in
            let (first, second): (JSON, JSON) = (
                ["host": "test", "path": "/a", "to": "Test/act"], ["host": "test", "path": "/b", "to": "Test/act"]
            )
            let peer = try bus.provider("Ant", "Test", ["urls": [first]])
            let interface = try peer.ask("bus/register", ["interfaces": ["More": [:]]])
            expect(interface, names: "limits.interfaces", of: "Ant")
            #expect(!interface.message.contains("limits.urls"))
            let url = try peer.ask("bus/register", ["urls": [second]])
            expect(url, names: "limits.urls", of: "Ant")
            #expect(!url.message.contains("limits.interfaces"))
            // Registering one's own name again doesn't count twice.
            try peer.asked("bus/register", ["interfaces": ["Test": [:]], "urls": [first]])
            let other = try bus.connect()
            let interfaces = try other.sendHello("Bee", ["interfaces": ["One": [:], "Two": [:]]])
            expect(
                try other.expectRefusal(of: interfaces, "overloaded"), names: "limits.interfaces", of: "2 interfaces")
            let third = try bus.connect()
            let urls = try third.sendHello(
                "Bee",
                [
                    "interfaces": ["One": [:]],
                    "urls": [
                        ["host": "one", "path": "/a", "to": "One/act"], ["host": "one", "path": "/b", "to": "One/act"],
                    ],
                ])
            expect(try third.expectRefusal(of: urls, "overloaded"), names: "limits.urls", of: "2 URLs")
        }
    }

    @Test(.promise("13.5")) func instances() throws {
        try MemoryBus.run(.sixModules { $0.limits.instances = 2 }) { bus in
            let owner = try bus.module("Ant", ["interfaces": ["Cart": ["instances": "multiple"]]])
            let peer = try bus.module("Bee")
            let mine = try (0..<2).map { _ in try peer.asked("bus/create", ["interface": "Cart"])["instance"] }
            expect(try peer.ask("bus/create", ["interface": "Cart"]), names: "limits.instances", of: "Bee")
            try bus.module("Cat").asked("bus/create", ["interface": "Cart"])
            try peer.asked("bus/release", ["instance": mine[0] ?? .null])
            try owner.expectCall("module/released")
            try peer.asked("bus/create", ["interface": "Cart"])
        }
    }

    @Test(.promise("13.6")) func theLastSixteenConnectionsAreForOperatorsAndTheLauncher() throws {
        try TestBus.run(.sixModules { $0.limits.connections = 18 }) { bus in
            let modules = try [bus.module("Ant"), bus.module("Bee")]
            let third = try bus.connect()
            let refusal = try third.expectRefusal(of: try third.sendHello("Cat"), "overloaded")
            expect(refusal, names: "limits.connections", of: "16 of 18")
            _ = try bus.launcher()
            _ = try bus.operator()
            for number in 0..<14 { try bus.connect("tool \(number)").hello(role: "operator") }
            expect(try bus.connect("one more").expectEnd("overloaded"), names: "limits.connections", of: "18")
            // A module's connection slot is free for a module again.
            modules[0].close()
            try bus.waitUntil("Ant", is: "absent")
            _ = try bus.module("Cat")
            expect(try bus.connect("one more").expectEnd("overloaded"), names: "limits.connections", of: "18")
        }
    }

    /// A row's module gets a connection slot however many guests there are. Guests have half of
    /// the slots however many rows there are.
    @Test(.promise("13.7"), arguments: [(places: 14, guests: 8), (places: 12, guests: 6), (places: 8, guests: 4)])
    func guestsLeaveAPlaceForEachRow(places: Int, guests: Int) throws {
        let table = AppTable.sixModules {
            $0.guests = .init(rank: 2, most: 100)
            $0.limits.connections = 16 + places
        }
        try MemoryBus.run(table) { bus in
            for number in 0..<guests { _ = try bus.module("Visitor\(number)") }
            let another = try bus.connect()
            let refusal = try another.expectRefusal(of: try another.sendHello("Other"), "overloaded")
            expect(refusal, names: "limits.connections", of: "\(16 + places - guests) of \(16 + places)")
            for name in (firstOfLevel + secondOfLevel).prefix(places - guests) { _ = try bus.module(name) }
        }
    }

    /// Ended connections whose last bytes are not read take no slots.
    @Test(.promise("13.7")) func endedConnectionsThatNobodyReadsGiveWay() throws {
        try TestBus.run(.sixModules { $0.limits.connections = 18 }) { bus in
            let tool = try bus.operator()
            let calls = (1_000..<1_400).map { id in
                FrameBytes.frame([
                    "kind": "call", "id": .integer(id), "to": "bus/interfaces", "meta": ["x": .filler(3_000)],
                ])
            }
            for _ in 0..<40 {
                let deaf = try bus.module("Ant")
                deaf.isPaused = true
                // More than its socket takes; then bytes that are no frame.
                for call in calls { try deaf.send(bytes: call) }
                try deaf.send(bytes: [0, 0, 0, 0])
                try bus.waitUntil("Ant", is: "absent")
            }
            try tool.settle()
            _ = try bus.module("Bee")
        }
    }

    @Test(.promise("13.14", "M.8")) func guests() throws {
        try MemoryBus.run(.sixModules { $0.guests = .init(rank: 2, most: 1) }) { bus in
            _ = try bus.module("Visitor")
            let second = try bus.connect()
            let refusal = try second.expectRefusal(of: try second.sendHello("Other"), "overloaded")
            expect(refusal, names: "guests.most", of: "1 guests")
            // Rows have their own slots.
            _ = try bus.module("Ant")
        }
    }
}
