import StrataCore
import StrataTesting

@testable import StrataBus
@testable import StrataTesting

/// What a stream of `bus/traffic` has told so far: the last totals of each edge.
final class SeenEdges {
    private var edges: [String: String] = [:]
    private(set) var since: Int64 = 0
    /// The partial replies that told of edges.
    private(set) var replies = 0

    /// The edge's count, errors and open requests, like `3 1 0`; nil if it wasn't told.
    subscript(edge: String) -> String? { edges[edge] }

    var names: [String] { edges.keys.sorted() }

    func take(_ body: JSON) {
        since = body["since"]?.integer ?? 0
        replies += 1
        for edge in body["edges"]?.array ?? [] {
            func text(_ member: String) -> String { edge[member]?.string ?? "?" }
            func number(_ member: String) -> String { edge[member]?.integer.map { "\($0)" } ?? "?" }
            edges["\(text("kind")) \(text("from")) → \(text("to")) \(text("name"))"] =
                "\(number("count")) \(number("errors")) \(number("waiting"))"
        }
    }
}

/// A tool with streams of `bus/traffic`.
extension RawPeer {
    func traffic(credit: Int64 = 1_000) throws -> UInt64 {
        let id = try call("bus/traffic", nil, ["credit": .integer(credit)])
        try settle()
        return id
    }

    /// Takes what a stream of this tool was told until everything that has happened is told.
    /// Drops this tool's other frames.
    func take(_ stream: UInt64, _ seen: SeenEdges) throws {
        // A turn tells of edges in the order in which they were first seen.
        let mark = "Mark\(newID())"
        _ = try call("\(mark)/act")
        while seen["call operator →  \(mark)"] == nil {
            let frame = try next()
            if frame.id == stream, frame.isPartial { seen.take(frame.json) }
        }
    }

    func edges(_ stream: UInt64) throws -> SeenEdges {
        let seen = SeenEdges()
        try take(stream, seen)
        return seen
    }
}

extension MemoryBus {
    /// Runs a test on such a bus, which it can look at.
    static func runSeen(_ table: AppTable, _ test: (TestBus, MemoryBus) throws -> Void) throws {
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { try test($0, memory) }
    }

    /// Lets time pass, with everything that is due in it.
    func pass(milliseconds: UInt64) {
        let end = broker.time + milliseconds * 1_000_000
        work()
        while let due = broker.due, due < end {
            broker.pass(to: due)
            work()
        }
        broker.pass(to: end)
        work()
    }
}
