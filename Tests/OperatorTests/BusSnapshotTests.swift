import Glibc
import StrataCore
import TestSupport
import Testing

@testable import StrataOperator

/// Figures about a bus and its modules.
@Suite(.timeLimit(.hang))
struct BusSnapshotTests {
    private static let modules = """
        {"modules":[{"name":"Storage","state":"ready","pid":\(getpid()),"since":1500,"startedAt":1000,"restarts":2,\
        "open":3,"waiting":4,"queued":5,"pending":["run"],"setAside":[{"action":"Storage/write","until":9,\
        "deaths":3},{}]},{"name":"Export","state":"absent","pid":null,"restarts":1,"pending":[]}]}
        """

    private func look(_ modules: String = modules, calls: Int, at time: UInt64) throws -> BusSnapshot {
        BusSnapshot(
            welcome: try #require(Welcome(Array(#"{"app":"test"}"#.utf8))),
            modules: [ModuleRow](try JSON(parsing: modules)),
            stats: BusStats(
                try JSON(
                    parsing: #"{"counters":{"calls":\#(calls)},"callMicroseconds":{"p50":45,"p99":99,"max":200}}"#)),
            measured: [], at: time)
    }

    @Test func ratesAreOfTheTimeBetweenTwoLooks() throws {
        let (first, second) = (try look(calls: 100, at: 1_000_000_000), try look(calls: 400, at: 3_000_000_000))
        #expect(first.perSecond(.calls, since: nil) == 0 && second.perSecond(.calls, since: first) == 150)
        #expect(second.perSecond(.errors, since: first) == 0)
        // A restarted broker has lower counts, and a clock may stand still.
        #expect(try look(calls: 7, at: 4_000_000_000).perSecond(.calls, since: second) == 0)
        #expect(second.perSecond(.calls, since: second) == 0)
    }

    @Test func totalsAreOfAllModules() throws {
        let look = try look(calls: 100, at: 1)
        #expect(look.ready == 1 && look.sum(\.restarts) == 3 && look.sum(\.queued) == 5)
        // This process is on this machine.
        #expect(try #require(look.modules[0].memory) > 0 && look.modules[1].memory == nil)
        let load = look.load(since: nil)
        #expect(load["app"] == "test" && load["modules"] == 2 && load["ready"] == 1 && load["calls"] == 100)
        #expect(load["callsPerSecond"] == 0 && load["p99Microseconds"] == 99 && load["open"] == 3)
        #expect(load["memory"]?.object?.map(\.name) == ["Storage"])
    }

    /// An app without nodes has no module that is unreachable.
    @Test(.promise("M.148")) func unreachableIsAStateOnlyWithNodes() throws {
        let text = Self.modules.replacing(
            #""name":"Export","state":"absent""#, with: #""name":"Export","nodes":["b"],"state":"unreachable""#)
        for (modules, isThere) in [(Self.modules, false), (text, true)] {
            let families = try look(modules, calls: 1, at: 1).families
            let states = try #require(families.first { $0.name == "strata_modules" })
            #expect("\(states)".contains("unreachable") == isThere)
        }
        #expect([ModuleRow](try JSON(parsing: text))[1].nodes == ["b"])
    }

    @Test func aRowIsReadWithWhatItLacks() throws {
        let rows = [ModuleRow](try JSON(parsing: Self.modules))
        #expect(rows[0].isPending && rows[0].uptime(at: 5_000) == 4_000 && rows[0].since == 1_500)
        #expect(rows[0].quarantined.map(\.action) == ["Storage/write"] && rows[0].quarantined[0].deaths == 3)
        #expect(!rows[1].isPending && rows[1].pid == nil && rows[1].uptime(at: 5_000) == nil && rows[1].open == 0)
        #expect(ModuleRow([:]).name == "?" && [ModuleRow](.null).isEmpty)
    }

    @Test func theLaunchersWordComesBeforeTheBrokers() throws {
        let row = [ModuleRow](try JSON(parsing: Self.modules))[1]
        let alone = ModuleCause(row, nil)
        #expect(alone.restarts == 1 && alone.lines.isEmpty && alone.lastEnd == nil && alone.isWorthTelling)
        let why: JSON = [
            "restarts": 4, "reason": "it crashed", "end": ["exit": "SIGSEGV", "at": 7, "pid": 8, "lines": ["a"]],
        ]
        let cause = ModuleCause(row, why)
        #expect(cause.restarts == 4 && cause.reason == "it crashed" && cause.lines == ["a"])
        #expect(cause.lastEnd?.exit == "SIGSEGV" && cause.lastEnd?.at == 7)
        #expect(cause.json["endedAt"] == 7 && cause.json["endedPid"] == 8 && cause.json["setAside"] == nil)
    }
}
