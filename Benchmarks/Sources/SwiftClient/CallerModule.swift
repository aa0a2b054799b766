import Glibc
import Strata

/// Keeps a number of calls open until its time is over, and prints how many were
/// answered in which time.
final class CallerModule: Module {
    static let name = "Caller0"

    private let bus: Bus
    private let isTyped: Bool
    private let open: Int
    private let warmUp: Double
    private let seconds: Double

    private let begun = ContinuousClock.now
    /// Of those that are counted.
    private var first: ContinuousClock.Instant?
    private var last = ContinuousClock.now
    private var count = 0
    private var running = 0

    init(bus: Bus) {
        let words = CommandLine.arguments
        self.bus = bus
        isTyped = words[2] == "typed"
        open = Int(words[3]) ?? 1
        warmUp = Double(words[4]) ?? 0
        seconds = Double(words[5]) ?? 1
    }

    func didStart() async throws {
        running = open
        for _ in 0..<open { try bus.background { try await self.call() } }
    }

    private func call() async throws {
        let body: [UInt8] = Array("\"\(String(repeating: "x", count: 62))\"".utf8)
        if isTyped {
            repeat { _ = try await bus.call(Test.Store()) } while isGoingOn()
        } else {
            repeat { _ = try await bus.call("Test/action1", bytes: body) } while isGoingOn()
        }
        running -= 1
        if running == 0, let first {
            let taken = first.duration(to: last)
            print("done \(count) \(taken / .seconds(1))")
            exit(0)
        }
    }

    /// Counts an answer; whether another call is to be made.
    private func isGoingOn() -> Bool {
        let now = ContinuousClock.now
        guard let first else {
            if begun.duration(to: now) >= .seconds(warmUp) { first = now }
            return true
        }
        guard first.duration(to: last) < .seconds(seconds) else { return false }
        count += 1
        last = now
        return true
    }
}
