import TestSupport
import Testing

@testable import Strata
@testable import StrataTesting

/// Modules on virtual time. Each scenario (Tests/Simulated) runs in a process of its own, because
/// here modules run on a loop.
@Suite(.timeLimit(.hang))
struct SimulationScenarioTests {
    /// Plays a scenario, and returns its output, without the warnings of a step that took long by the real clock: on a
    /// busy machine each may.
    private func play(
        _ scenario: String, _ environment: [String: String] = [:], fails: Bool = false
    ) throws -> String {
        let program = try ChildProgram(
            BuiltExecutable.path("SimulatedModules"), [scenario], environment: environment, label: scenario)
        // A scenario of a thousand seeds works for 10 s if it has a processor to itself.
        let end = try program.wait(within: TestBus.patience * 5)
        #expect(end == .exit(fails ? 1 : 0), "\(scenario): \(program.outputText)")
        return program.outputText.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("held the module's loop for") }.joined(separator: "\n")
    }

    @Test func aRaceIsFound() throws {
        let text = try play("seats", fails: true)
        #expect(text.contains(": the last seat was sold twice\nSTRATA_SEED="))
        #expect(text.contains(#" Seats > {"kind":"call","id":2,"to":"Bank/pay","#))
        let mended = try play("mended-seats")
        #expect(mended == "")
        #expect(try shown(of: text) > 4)
    }

    /// Compares the output with the lines that the page shows.
    /// - Returns: the number of those lines.
    private func shown(of text: String) throws -> Int {
        let page = try Repository.lines("docs/simulation.md")
        let shown = page.drop { !$0.hasPrefix("    with seed") }.prefix { $0.hasPrefix("    ") }
        for line in shown {
            let pattern = LinePattern(String(line.dropFirst(4)))
            #expect(text.split(separator: "\n").contains { pattern.matches(String($0), [:]) != nil }, "\(line)")
        }
        return shown.count
    }

    @Test func aSeedGivesTheSameRun() throws {
        let one = try play("seats", ["SWIFT_DETERMINISTIC_HASHING": "1"], fails: true)
        #expect(try one == play("seats", fails: true))
        let seed = try #require(one.firstMatch(of: /seed (\d+):/)).1
        // Strata's own variables are given explicitly, because tests' programs don't inherit
        // them.
        #expect(try one == play("seats", ["STRATA_SEED": "\(seed)"], fails: true))
        let other = try play("seats", ["STRATA_SEED": "20"], fails: true)
        #expect(other.hasPrefix("with seed 20: ") && other.dropFirst(14) != one.dropFirst(13))
    }

    @Test func whatIsConcurrentComesInAnyOrder() throws {
        #expect(try play("orders") == "a1 a2 b1, a1 b1 a2, b1 a1 a2\n")
    }

    @Test(arguments: ["hours", "day", "retries", "blocking", "detached", "bus-back", "killed", "terminated"])
    func aScenarioComesToItsEnd(_ scenario: String) throws {
        let lines = try play(scenario).split(separator: "\n").filter { !$0.contains(" failed: ") }
        #expect(lines == [])
    }

    @Test func aDeadlinePassesAtOnce() throws {
        #expect(try play("deadline").contains("did not answer within the deadline of 1000 ms"))
        // It always has something to do, and time passes nevertheless.
        #expect(try play("spin").contains("did not answer within the deadline of 30000 ms"))
    }

    @Test func aBusThatStaysAwayIsGivenUpAfterItsTime() throws {
        #expect(try play("bus-gone").contains("and could not reconnect within 30 s"))
    }

    @Test(arguments: [
        ("task-sleep", "Waiting/sleep uses `Task.sleep`. It takes real time"),
        ("task-sleep-apart", "Waiting/sleepApart uses `Task.sleep`. It takes real time"),
        ("thread", "A thread outside the simulation resumed a module's task. It takes real time"),
    ])
    func whatLeavesTheSimulationIsReported(_ scenario: String, _ report: String) throws {
        #expect(try play(scenario, fails: true).contains(report))
    }

    @Test func aModuleThatFailsFailsTheTest() throws {
        let text = try play("failed", fails: true)
        #expect(text.contains("Waiting has ended with exit code 1: background work \"failing\" failed"))
        #expect(try play("unfinished", fails: true).contains("Bank still waits for"))
    }

    @Test func whatCantBeSimulatedIsRefused() throws {
        #expect(try play("nested", fails: true).contains("a simulation can't run inside another one"))
        #expect(try play("process", fails: true).contains("Waiting can't be started as a process"))
        #expect(
            try play("seats", ["STRATA_SEED": "x"], fails: true) == "STRATA_SEED is \"x\", but a seed is a number\n")
    }

    @Test func thereIsNoneBesideAModuleOnALoop() async throws {
        TestLoop.start
        await withTaskExecutorPreference(ModuleExecutor.shared) { await Task { @ModuleActor in }.value }
        let failure = #expect(throws: TestFailure.self) {
            try Simulation.run(.testing(.manual("Ann"))) { _ in }
        }
        #expect(failure?.description.contains("a module runs on a loop in this process") == true)
    }
}
