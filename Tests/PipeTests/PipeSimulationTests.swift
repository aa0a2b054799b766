import Testing

@testable import StrataPipe

/// Long random runs of two links: streams are compared byte for byte as they arrive.
struct PipeSimulationTests {
    #if DEBUG
        static let steps = 300_000
    #else
        static let steps = 2_000_000
    #endif

    @Test(arguments: UInt64(1)...4)
    func lightHarmEndsNoSession(seed: UInt64) {
        let simulation = PipeSimulation(seed: seed, harm: .light)
        simulation.run(steps: Self.steps / 4)
        simulation.settle()
        #expect(simulation.problems == [])
        #expect(simulation.losses == [])
        #expect(simulation.links.map(\.figures.sessions) == [1, 1])
        #expect(simulation.links.allSatisfy { $0.figures.resent > 0 && $0.figures.gaps > 0 })
        #expect(simulation.links.allSatisfy { $0.figures.badPieces == 0 && $0.figures.badControls == 0 })
        #expect(simulation.bytesRead > 1_000_000)
    }

    @Test(arguments: UInt64(1)...4)
    func heavyHarmCorruptsNoStream(seed: UInt64) {
        let simulation = PipeSimulation(seed: seed, harm: .heavy)
        simulation.run(steps: Self.steps / 4)
        simulation.settle()
        #expect(simulation.problems == [])
        #expect(simulation.losses.count > 5)
        #expect(simulation.restarts > 5)
        #expect(simulation.bytesRead > 1_000_000)
    }

    @Test func aLargeWindowIsUsedWithinItsBound() {
        let simulation = PipeSimulation(seed: 9, harm: .light, window: 1 << 20)
        simulation.run(steps: Self.steps / 10)
        simulation.settle()
        #expect(simulation.problems == [])
        #expect(simulation.losses == [])
    }
}
