import StrataCore
import TestSupport
import Testing

@testable import StrataPictures

/// An app's start, read and drawn.
struct StartTimelineTests {
    /// Storage, then Catalog, which waits for it. Log starts beside them, and Finder later. One
    /// module failed, and one never connected. Times are in milliseconds.
    static let answer: JSON = {
        func at(_ time: Int64) -> JSON { .integer(1_700_000_000_000_000 + time * 1_000) }
        func row(_ name: String, _ start: String, _ state: String, _ times: [(String, Int64)]) -> JSON {
            .object(
                [
                    .init("name", .string(name)), .init("level", "basic"), .init("start", .string(start)),
                    .init("state", .string(state)),
                ] + times.map { .init($0.0, at($0.1)) } + (state == "failed" ? [.init("reason", "no <disk>")] : []))
        }
        func full(_ from: Int64, _ steps: Int64...) -> [(String, Int64)] {
            var time = from
            let names = [
                "spawned", "connected", "setUpBegun", "setUpEnded", "initializeBegun", "initializeEnded", "ready",
            ]
            return zip(names, [0] + steps).map { name, step in
                time += step
                return (name, time)
            }
        }
        return [
            "app": ["name": "test", "begun": at(0), "ready": at(100), "microseconds": 100_000],
            "modules": [
                row("Storage", "eager", "ready", full(1, 19, 0, 30, 20, 5, 0)),
                row("Log", "async", "ready", full(1, 50, 0, 44, 0, 1, 0)),
                row("Catalog", "eager", "ready", full(52, 10, 0, 8, 6, 24, 0)),
                row(
                    "Broken", "eager", "failed",
                    [("spawned", 52), ("connected", 60), ("setUpBegun", 60), ("ended", 70)]),
                row("Gone", "eager", "failed", [("spawned", 52), ("ended", 54)]),
                row("Idle", "on-demand", "absent", []),
                row("Finder", "on-demand", "ready", full(9_000, 10, 0, 1, 0, 1, 0)),
            ],
        ]
    }()

    private let timeline = StartTimeline(answer)

    private func row(_ name: String) throws -> StartTimeline.Row {
        try #require(timeline.rows.first { $0.name == name })
    }

    @Test func phasesAreReadOfTheTimes() throws {
        let storage = try row("Storage")
        #expect(storage.spans.map(\.phase) == [.connect, .waiting, .setUp, .waiting, .initialize])
        #expect(storage.microseconds(.connect) == 19_000 && storage.microseconds(.setUp) == 30_000)
        #expect(storage.microseconds(.waiting) == 20_000 && storage.own == 54_000)
        #expect(timeline.isLate(try row("Finder")) && !timeline.isLate(storage))
        // A start that came later doesn't stretch the picture.
        #expect(timeline.range.upperBound - timeline.range.lowerBound == 100_000)
    }

    @Test func whatFailedIsCutWhereItEnded() throws {
        let broken = try row("Broken")
        #expect(
            broken.spans.last
                == .init(phase: .setUp, from: broken.begun! + 8_000, to: broken.begun! + 18_000, isCut: true))
        #expect(broken.microseconds(.setUp) == nil)
        let gone = try row("Gone")
        #expect(gone.spans.map(\.phase) == [.connect] && gone.spans[0].isCut && gone.connected == nil)
        #expect(try row("Idle").begun == nil)
    }

    @Test(.promise("I.12")) func theLongestAndTheCriticalPathAreOfThoseThatTheAppWaitsFor() {
        #expect(timeline.longest?.name == "Storage")
        let path = timeline.criticalPath.map { "\($0.module) \($0.span.phase.rawValue)" }
        #expect(
            path == [
                "Storage connect", "Storage setUp", "Catalog connect", "Catalog setUp", "Storage initialize",
                "Catalog initialize",
            ])
        #expect(
            timeline.pathSummary
                == "critical path: Storage connect 19.0 ms → setUp 30.0 ms → Catalog connect 10.0 ms → "
                + "setUp 8.0 ms → Storage initialize 5.0 ms → Catalog initialize 24.0 ms")
        #expect(timeline.summary == "ready after 100.0 ms; Storage took longest, 54.0 ms (setUp 30.0 ms)")
    }

    @Test func aBusWhereNothingWasStartedSaysSo() {
        let none = StartTimeline(["app": ["name": "x"], "modules": [["name": "A", "state": "absent"]]])
        #expect(none.summary == "nothing was started yet")
        #expect(none.pathSummary == nil)
        #expect(none.criticalPath.isEmpty && none.longest == nil)
        #expect(!TimelineSVG.text(of: none).contains("nan"))
        let begun = StartTimeline(["app": ["begun": 5], "modules": []])
        #expect(begun.summary == "not ready yet")
    }

    @Test func shortStepsOfThePathAreCountedOnly() {
        let timeline = StartTimeline([
            "app": ["begun": 0, "ready": 1_000_000],
            "modules": [
                [
                    "name": "A", "start": "eager", "state": "ready", "spawned": 10, "connected": 1_000,
                    "setUpBegun": 1_000, "setUpEnded": 900_000, "initializeBegun": 900_000,
                    "initializeEnded": 901_000, "ready": 901_000,
                ]
            ],
        ])
        #expect(timeline.pathSummary == "critical path: A setUp 899.0 ms, and 2 short steps")
    }

    @Test func aResumedModuleHasNoPhases() {
        let resumed = StartTimeline([
            "app": ["begun": 1_000, "ready": 2_000],
            "modules": [["name": "A", "state": "ready", "connected": 900, "ready": 900, "resumed": true]],
        ])
        #expect(resumed.rows[0].spans.isEmpty)
        #expect(resumed.range == 1_000...2_000)
        #expect(TimelineSVG.text(of: resumed).contains("resumed"))
    }

    /// Marks come with the times since their module's beginning; one that came later than the
    /// picture's end isn't drawn.
    @Test(.promise("M.65")) func marksAreDrawnWhereTheyFit() throws {
        let marked = StartTimeline([
            "app": ["name": "test", "begun": 1_000, "ready": 2_000],
            "modules": [
                [
                    "name": "A", "start": "eager", "state": "ready", "spawned": 1_100, "connected": 1_200,
                    "ready": 2_000,
                    "marks": [
                        ["name": "<cache>", "at": 1_600], ["name": "late", "at": 9_000], ["name": 1, "at": 1],
                    ],
                ],
                [
                    "name": "B", "state": "ready", "connected": 900, "ready": 900, "resumed": true,
                    "marks": [["name": "again", "at": 1_500]],
                ],
            ],
        ])
        #expect(marked.rows[0].marks == [.init(name: "<cache>", at: 1_600), .init(name: "late", at: 9_000)])
        #expect(marked.rows[0].marks.map(marked.rows[0].microseconds) == [500, 7_900])
        #expect(marked.range == 1_000...2_000)
        let picture = TimelineSVG.text(of: marked)
        #expect(picture.contains("A &lt;cache>: +500 µs") || picture.contains("A &lt;cache&gt;: +500 µs"), "\(picture)")
        #expect(picture.contains("B again: +600 µs") && !picture.contains("late") && picture.contains("own mark"))
        #expect(!TimelineSVG.text(of: timeline).contains("mark"))
        let events = try #require(ChromeTrace.json(of: marked)["traceEvents"]?.array).filter { $0["cat"] == "mark" }
        #expect(events.map { $0["name"] } == ["<cache>", "late", "again"])
        #expect(events.map { $0["ts"] } == [1_600, 9_000, 1_500] && events.allSatisfy { $0["ph"] == "i" })
    }

    @Test(arguments: [1, 14, 50, 100])
    func barsAreAsWideAsAskedAndShowEachPhase(width: Int) throws {
        for row in timeline.rows {
            let cells = TimelineBar.cells(row, timeline, width: width)
            #expect(cells.count == width)
            if row.spans.isEmpty { #expect(cells.allSatisfy { $0 == nil }) }
        }
        guard width >= 50 else { return }
        let storage = TimelineBar.cells(try row("Storage"), timeline, width: width)
        #expect(Set(storage) == [nil, .connect, .setUp, .waiting, .initialize])
        #expect(storage.count { $0 == .setUp } == (width * 3 + 5) / 10)
        // From its own beginning.
        #expect(TimelineBar.cells(try row("Finder"), timeline, width: width)[0] == .connect)
    }

    @Test(.promise("M.65")) func theTraceHasAnEventForEachPhase() throws {
        let trace = ChromeTrace.json(of: timeline)
        let events = try #require(trace["traceEvents"]?.array)
        let complete = events.filter { $0["ph"] == "X" }
        #expect(complete.count == 1 + timeline.rows.reduce(0) { $0 + $1.spans.count })
        for event in complete { #expect((event["dur"]?.integer ?? -1) >= 0 && event["ts"]?.integer != nil) }
        let names = events.filter { $0["name"] == "thread_name" }.compactMap { $0["args"]?["name"]?.string }
        #expect(names == ["app"] + timeline.rows.map(\.name))
        #expect(try JSON(parsing: "\(trace)") == trace)
    }

    @Test func thePictureHasABarForEachPhaseAndSaysWhatFailed() {
        let svg = TimelineSVG.text(of: timeline)
        #expect(svg == TimelineSVG.text(of: timeline))
        for row in timeline.rows {
            for span in row.spans {
                #expect(
                    svg.contains(
                        "<title>\(row.name) \(span.phase.rawValue): \(StartTimeline.text(span.microseconds))</title>"))
            }
        }
        #expect(svg.contains("failed: no &lt;disk&gt;") && svg.contains("never connected: no &lt;disk&gt;"))
        #expect(svg.contains("not started") && svg.contains("from its own beginning"))
    }

    @Test func timesAreReadAtAGlance() {
        let times: [(Int64, String)] = [
            (0, "0 µs"), (999, "999 µs"), (1_000, "1.0 ms"), (12_345, "12.3 ms"), (999_949, "999.9 ms"),
            (1_000_000, "1.00 s"), (4_567_000, "4.57 s"), (67_000_000, "1m07s"), (7_260_000_000, "121m00s"),
        ]
        for (time, text) in times { #expect(StartTimeline.text(time) == text) }
    }

    @Test(arguments: [1, 7, 999, 12_345, 100_000, 3_000_000, 9_999_999_999] as [Int64])
    func ticksAreRoundAndFew(length: Int64) {
        let ticks = TimelineAxis(length: length).ticks
        #expect(ticks.count <= 10 && ticks.count >= 2 && ticks[0] == 0 && ticks.last! <= length)
        for tick in ticks.dropFirst() {
            var digit = ticks[1]
            while digit % 10 == 0 { digit /= 10 }
            #expect([1, 2, 5].contains(digit), "\(tick)")
        }
    }
}
