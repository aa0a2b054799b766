import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 13, `unregistered`: connections without hello take no slots but those
/// of their own user.
@Suite(.timeLimit(.hang))
struct UnregisteredTests {
    private static let isRoot = geteuid() == 0

    private func runExecutable(
        _ change: (inout AppTable) -> Void = { _ in }, _ test: (TestBus) throws -> Void
    ) throws {
        try TestBus.run(.sixModules(change), executable: try BuiltExecutable.path("strata-broker"), test)
    }

    @Test(.promise("12.9", "13.8")) func theOldestGivesWayToTheNewOne() throws {
        try TestBus.run(.sixModules { $0.limits.unregistered = 3 }) { bus in
            let waiting = try (0..<4).map { try bus.connect("\($0)") }
            let error = try waiting[0].expectEnd("overloaded")
            #expect(error.ran == "no" && error.message.contains("(limits.unregistered)"), "\(error)")
            #expect(error.message.contains("4 connections of user \(geteuid())"), "\(error)")
            #expect(error.message.contains("the limit is 3"), "\(error)")
            for (peer, name) in zip(waiting.dropFirst(), firstOfLevel) { try peer.hello(name) }
        }
    }

    /// Everything that arrived while the broker was busy is read before a connection is ended.
    @Test(.promise("13.8")) func theOldestConnectionIsReadBeforeItIsClosed() throws {
        try runExecutable({ $0.limits.unregistered = 4 }) { bus in
            var (tools, hellos, silent): ([RawPeer], [UInt64], [RawPeer]) = ([], [], [])
            try bus.whileBrokerIsHalted {
                for _ in 0..<6 {
                    let tool = try bus.connect("tool")
                    tools.append(tool)
                    hellos.append(try tool.call("bus/hello", ["protocol": 1, "role": "operator"]))
                    silent += try (0..<10).map { try bus.connect("silent \($0)") }
                }
            }
            for (tool, hello) in zip(tools, hellos) { try tool.expectReply(to: hello) }
            for peer in silent.dropLast(4) { try peer.expectEnd("overloaded") }
        }
    }

    /// More connections than may be, of the operators' own user, each reopened when it is closed.
    /// In each round a tool connects, all closed connections are reopened, and then the broker
    /// continues.
    @Test(.promise("13.8")) func reopenedConnectionsKeepNoClientOut() throws {
        try runExecutable { bus in
            var silent = try (0..<70).map { try bus.connect("silent \($0)") }
            for round in 0..<5 {
                var (tool, hello): (RawPeer?, UInt64) = (nil, 0)
                let ant = try bus.connect("Ant", answersLifecycle: true)
                try bus.whileBrokerIsHalted {
                    tool = try bus.connect("tool \(round)")
                    hello = try tool!.call("bus/hello", ["protocol": 1, "role": "operator"])
                    for peer in silent { peer.close() }
                    silent = try (0..<70).map { try bus.connect("silent \($0)") }
                }
                try tool?.expectReply(to: hello)
                tool?.close()
                _ = ant
            }
            _ = try bus.module("Ant")
        }
    }

    @Test(.promise("13.9"), .enabled(if: isRoot, "only root can be another user"))
    func otherUsersHaveAPoolOfTheirOwn() throws {
        let table = AppTable.sixModules {
            $0.limits.unregistered = 2
            $0.guests = .init(rank: 2, most: 2)
        }
        try TestBus.run(table) { bus in
            bus.openToOthers()
            let own = try (0..<2).map { try bus.connect("own \($0)") }
            let first = try (0..<2).map { try OtherProcess(bus, "first \($0)", user: TestBus.others.0) }
            let second = try OtherProcess(bus, "second", user: TestBus.others.1)
            let error = try first[0].peer.expectEnd("overloaded")
            #expect(error.message.contains("2 connections of user \(TestBus.others.0)"), "\(error)")
            #expect(error.message.contains("the limit for users other than the broker's is 2"), "\(error)")
            // The user with the most connections gives way, not the new connection.
            let third = try OtherProcess(bus, "third", user: TestBus.others.0)
            try first[1].peer.expectEnd("overloaded")
            try second.peer.hello("Second")
            try third.peer.hello("Third")
            for peer in own { try peer.hello(role: "operator") }
        }
    }

    @Test(.promise("13.9"), .enabled(if: isRoot, "only root can be another user"))
    func anotherUsersFloodKeepsNeitherOperatorsNorModulesOut() throws {
        try runExecutable { bus in
            let flood = try bus.flood(70)
            defer { flood.kill() }
            for number in 0..<20 {
                let tool = try bus.connect("tool \(number)")
                try tool.hello(role: "operator")
                tool.close()
            }
            for _ in 0..<5 {
                let module = try bus.module("Ant")
                module.close()
                try bus.waitUntil("Ant", is: "absent")
            }
        }
    }

    /// If all slots are taken, connections without hello give way.
    @Test(.promise("13.10")) func connectionsWithoutHelloTakeNoPlaceOfOperators() throws {
        try TestBus.run(.sixModules { $0.limits.connections = 20 }) { bus in
            let silent = try (0..<20).map { try bus.connect("silent \($0)") }
            _ = try bus.launcher()
            for number in 0..<16 { try bus.connect("tool \(number)").hello(role: "operator") }
            _ = try (bus.module("Ant"), bus.module("Bee"))
            let error = try silent[0].expectEnd("overloaded")
            #expect(error.message.contains("20 connections (limits.connections)"), "\(error)")
            // One of them is left, and gives way for the last module.
            _ = try bus.module("Cat")
            for peer in silent.dropFirst() { try peer.expectEnd("overloaded") }
            #expect(try bus.connect("one more").expectEnd("overloaded").message.contains("(limits.connections)"))
        }
    }
}
