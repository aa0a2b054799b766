import StrataOperator
import Testing

@testable import StrataWeb

/// What tabs get: each change once, in bounded pieces, however slowly they read.
@Suite struct LiveStateTests {
    /// Splits server-sent events into names and data.
    private func events(_ state: LiveState, _ reading: inout LiveState.Reading) throws -> [(name: String, data: JSON)] {
        let text = String(decoding: state.events(&reading), as: UTF8.self)
        return try text.split(separator: "\n\n").map { event in
            let lines = event.split(separator: "\n")
            #expect(lines.count == 2)
            return (
                String(lines[0].dropFirst("event: ".count)),
                try JSON(parsing: Array(lines[1].dropFirst("data: ".count).utf8))
            )
        }
    }

    private func names(_ event: JSON, _ list: String) -> [String] {
        (event[list]?.array ?? []).compactMap { $0["name"]?.string ?? $0.string }
    }

    @Test func aTabGetsAllAtFirstAndThenWhatChanges() throws {
        var state = LiveState()
        state.setApp(["app": "shop"])
        for name in ["A", "B"] { state.setModule(name, ["name": .string(name)]) }
        var reading = LiveState.Reading()
        let first = try events(state, &reading)
        #expect(first.map(\.name) == ["app", "modules"])
        #expect(names(first[1].data, "modules") == ["A", "B"])
        #expect(try events(state, &reading).isEmpty)
        state.setModule("A", ["name": "A"])
        state.setApp(["app": "shop"])
        #expect(try events(state, &reading).isEmpty, "an equal value is no change")
        state.setModule("B", ["name": "B", "state": "ready"])
        #expect(names(try events(state, &reading)[0].data, "modules") == ["B"])
        state.keepModules(["B"])
        #expect(names(try events(state, &reading)[0].data, "gone") == ["A"])
        #expect(try events(state, &reading).isEmpty)
    }

    @Test func aModuleThatComesBackIsNotGone() throws {
        var state = LiveState()
        var reading = LiveState.Reading()
        state.setModule("A", ["name": "A"])
        _ = try events(state, &reading)
        state.keepModules([])
        state.setModule("A", ["name": "A"])
        let event = try events(state, &reading)[0].data
        #expect(names(event, "modules") == ["A"] && names(event, "gone").isEmpty)
    }

    @Test func aSlowTabGetsManyChangesInBoundedPieces() throws {
        var state = LiveState()
        let name = String(repeating: "n", count: 200)
        for number in 0..<4_096 { state.setEdge("\(number)", ["name": .string("\(number)\(name)")]) }
        var reading = LiveState.Reading()
        var seen: [String] = []
        var pieces = 0
        while true {
            let text = state.events(&reading)
            if text.isEmpty { break }
            #expect(text.count < 128 << 10)
            pieces += 1
            let data = try JSON(
                parsing: Array(String(decoding: text, as: UTF8.self).split(separator: "\n")[1].dropFirst(6).utf8))
            seen += names(data, "edges")
        }
        #expect(pieces > 5 && seen.count == 4_096 && Set(seen).count == 4_096)
    }

    @Test func aPieceNeverCostsATabMoreThanItsBound() {
        var state = LiveState()
        let long = String(repeating: "x", count: 4_000)
        for number in 0..<600 {
            state.setModule("\(number)", ["name": .string("\(number)"), "reason": .string(long)])
            state.setEdge("\(number)", ["name": .string(long)])
        }
        var reading = LiveState.Reading()
        _ = state.events(&reading)
        for number in 0..<600 { state.add(frame: [.init("url", .string("\(number)\(long)"))], leftOut: 0) }
        #expect(state.events(&reading).count <= 256 << 10)
    }

    @Test func framesThatATabCouldNotGetAreCounted() throws {
        var state = LiveState()
        var reading = LiveState.Reading()
        state.add(frame: [.init("kind", "call")], leftOut: 7)
        #expect(try events(state, &reading).isEmpty, "a new tab begins with what comes")
        var sent: UInt64 = 0
        for _ in 0..<2_000 {
            state.add(frame: [.init("kind", "call")], leftOut: 3)
            sent += 4
        }
        state.leaveOut(5)
        let event = try events(state, &reading)[0].data
        let frames = event["frames"]?.array ?? []
        #expect(!frames.isEmpty && frames.count <= FrameTape.most)
        #expect(UInt64(frames.count) + UInt64(event["left"]?.integer ?? 0) == sent + 5)
        #expect(frames.last?["seq"]?.integer == 2_001)
        #expect(try events(state, &reading).isEmpty)
    }

    @Test func whatTheBusCountsAnewReplacesTheEdges() throws {
        var state = LiveState()
        var reading = LiveState.Reading()
        state.setEdge("a", ["name": "a"])
        _ = try events(state, &reading)
        state.forgetEdges()
        let event = try events(state, &reading)[0].data
        #expect(event["all"] == true && event["edges"]?.array?.isEmpty == true)
        state.setEdge("b", ["name": "b"])
        let next = try events(state, &reading)[0].data
        #expect(next["all"] == nil && names(next, "edges") == ["b"])
    }

    @Test func aTabThatMissedRemovalsGetsAllAnew() throws {
        var state = LiveState()
        var reading = LiveState.Reading()
        state.setModule("stays", ["name": "stays"])
        _ = try events(state, &reading)
        for number in 0..<VersionedTable.mostRemoved + 2 {
            state.setModule("guest\(number)", ["name": "guest"])
            state.keepModules(["stays"])
        }
        let event = try events(state, &reading)[0].data
        #expect(event["all"] == true && names(event, "modules") == ["stays"])
    }
    /// More modules than one piece holds, after more removals than are remembered.
    @Test func manyModulesComeOnceWhateverWasRemovedBefore() throws {
        var state = LiveState()
        let long = String(repeating: "x", count: 1_000)
        for number in 0..<200 {
            state.setModule("\(number)", ["name": .string("\(number)"), "reason": .string(long)])
        }
        let names = Set((0..<200).map(String.init))
        for number in 0..<VersionedTable.mostRemoved + 2 {
            state.setModule("guest\(number)", ["name": "guest"])
            state.keepModules(names)
        }
        var reading = LiveState.Reading()
        var seen: [String] = []
        for _ in 0..<20 {
            for event in try events(state, &reading) {
                #expect(event.data["all"] == nil)
                seen += self.names(event.data, "modules")
            }
        }
        #expect(seen.count == 200 && Set(seen) == names)
    }
}

/// The rates of edges.
@Suite struct TrafficBookTests {
    private func edge(_ count: Int64) -> TrafficEdge {
        TrafficEdge(["from": "A", "to": "B", "kind": "call", "name": "B", "count": .integer(count), "errors": 1])
    }

    @Test func aRateIsMeasuredBetweenTwoTimes() {
        var book = TrafficBook()
        book.add(edge(100))
        #expect(book.measure(at: 1_000_000_000).isEmpty)
        book.add(edge(150))
        #expect(book.measure(at: 1_500_000_000) == [edge(0).key])
        #expect(book.json(edge(0).key)["perSecond"] == 300)
        #expect(book.measure(at: 2_000_000_000) == [edge(0).key], "it has become still")
        #expect(book.json(edge(0).key)["perSecond"] == 0)
        #expect(book.measure(at: 2_500_000_000).isEmpty)
    }
}
