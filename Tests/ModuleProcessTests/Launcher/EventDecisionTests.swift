import Glibc
import StrataCore
import Testing

@testable import StrataLauncher

/// The launcher's decisions about the app's own events, and what it emits.
@Suite(.timeLimit(.hang))
struct EventDecisionTests {
    @Test func pressureIsAnEventOnceInTenSecondsAndNotWhileOneIsOpen() {
        var pressure = MemoryPressure()
        let emitted = [5, 6, 10_004].map { pressure.came(at: $0) }
        #expect(emitted == [true, false, false])
        let open = pressure.came(at: 20_000)
        #expect(!open)
        pressure.answered()
        let (next, soon) = (pressure.came(at: 20_000), pressure.came(at: 29_999))
        #expect(next && !soon)
    }

    @Test func paramsAreWhatTheFileSaysOfTheLevel() {
        let text = "some avg10=1.50 avg60=0.25 avg300=0.00 total=12\nfull avg10=0.75 avg60=x avg300=nan total=9\n"
        #expect(
            MemoryPressure.params("some", text)
                == ["level": "some", "avg10": .number(1.5), "avg60": .number(0.25), "avg300": .number(0)])
        #expect(MemoryPressure.params("full", text) == ["level": "full", "avg10": .number(0.75)])
        #expect(MemoryPressure.params("some", "") == ["level": "some"])
    }

    @Test func theEnvironmentMayNameAnotherFile() {
        #expect(PressureSource([:]) == .standard)
        #expect(PressureSource(["MEMORY_PRESSURE_WATCH": ""]) == .standard)
        #expect(PressureSource(["MEMORY_PRESSURE_WATCH": "/dev/null"]) == nil)
        let file = ["MEMORY_PRESSURE_WATCH": "/sys/fs/cgroup/x/memory.pressure"]
        #expect(PressureSource(file)?.path == "/sys/fs/cgroup/x/memory.pressure")
        #expect(PressureSource(file)?.trigger == PressureSource.standard.trigger)
        // As systemd writes it, with a null byte at the end.
        let full = file.merging(["MEMORY_PRESSURE_WRITE": "ZnVsbCAyMDAwMDAgMjAwMDAwMAA="]) { $1 }
        #expect(PressureSource(full)?.trigger == Array("full 200000 2000000\0".utf8))
        #expect(PressureSource(full)?.level == "full")
        for text in ["a", "ab=c", "====", "a?b=", "é"] { #expect(PressureSource.base64(text) == nil, "\(text)") }
        #expect(PressureSource.base64("YQ==") == [97])
    }

    @Test func eachResumeFollowsOneSuspend() {
        var suspension = Suspension()
        #expect(suspension.continued() == .nothing)
        #expect(suspension.ordered() == .suspend(1))
        #expect(suspension.answered(1) == .halt)
        #expect(suspension.ordered() == .halt)
        #expect(suspension.continued() == .resume)
        #expect(suspension.continued() == .nothing)
        #expect(suspension.ordered() == .suspend(2))
        // A late answer to the first one.
        #expect(suspension.answered(1) == .nothing)
        #expect(suspension.continued() == .resume)
        #expect(suspension.answered(2) == .nothing)
        #expect(suspension.ordered() == .suspend(3))
        #expect(suspension.ordered() == .halt)
        #expect(suspension.answered(3) == .nothing)
    }

    @Test func whatComesOverTheFIFOIsEmitted() throws {
        let app = try LauncherFixture()
        let pressure = try app.pressureFIFO()
        defer { close(pressure) }
        try app.module("A")
        try app.start()
        try app.getReady("A")
        #expect(app.broker.events.isEmpty)
        for _ in 0..<3 { #expect(write(pressure, "x\n", 2) == 2) }
        try app.until { app.broker.events.contains { $0.name == "app.memoryPressure" } }
        #expect(app.broker.events.first?.params == ["level": "some"])
        try app.end()
        #expect(app.broker.events.map(\.name) == ["app.memoryPressure", "app.terminate"])
    }

    @Test func fileThatCannotBeWatchedIsSaidOnceAndNothingIsWrittenToIt() throws {
        let app = try LauncherFixture()
        let file = app.folder + "/plain"
        close(open(file, O_CREAT | O_WRONLY, 0o600))
        defer { unlink(file) }
        app.environment["MEMORY_PRESSURE_WATCH"] = file
        try app.module("A")
        try app.start()
        try app.getReady("A")
        #expect(app.lines.count { $0.contains("app.memoryPressure is not emitted: watch \(file)") } == 1)
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_size == 0)
        unlink(file)
        try app.end()
    }

    @Test(.promise("11.17")) func goodReloadIsAnEventAndABadOneIsNone() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        app.reloadFails = LaunchError(2, "strata.yaml:3: one")
        #expect(throws: BusError.self) { try app.ask("reload").get() }
        app.reloadFails = nil
        #expect(throws: Never.self) { try app.ask("reload").get() }
        try app.until { !app.broker.events.isEmpty }
        #expect(app.broker.events.map(\.name) == ["app.reload"])
        try app.end()
    }

    @Test func theEndIsToldBeforeAnyTearDownAndWaitedForASecond() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        app.broker.answersEvents = false
        let start = app.loop.now
        app.order("SIGTERM")
        try app.until { app.ending != nil }
        #expect(app.loop.now - start >= 1_000)
        #expect(app.broker.events.first?.params == ["reason": "SIGTERM"])
        let actions = app.broker.calls.map(\.action).filter { $0 == "emit" || $0 == "retire" }
        #expect(actions == ["emit", "retire"])
        try app.end()
    }

    @Test func aSecondOrderDoesNotWaitForTheFirstOnesEvent() throws {
        let app = try LauncherFixture()
        try app.module("A")
        try app.start()
        try app.getReady("A")
        app.broker.answersEvents = false
        app.order("once")
        app.order("twice")
        try app.until { app.ending != nil }
        #expect(!app.broker.calls.contains { $0.action == "retire" })
        #expect(app.said("twice again: everything is killed"))
        try app.end()
    }
}
