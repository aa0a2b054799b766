import Glibc
import Strata

/// Keeps a number of calls open until its time is over, or until it has made as many as it is told,
/// and prints how many were answered in which time.
final class CallerModule: Module {
    static let name = "Caller0"

    private let bus: Bus
    /// `bytes`, `async` or `typed`.
    private let how: String
    private let open: Int
    private let warmUp: Duration
    private let seconds: Duration
    /// The calls that are left to make; nil if the time counts.
    private var left: Int?

    private let begun = ContinuousClock.now
    /// Of those that are counted.
    private var first: ContinuousClock.Instant?
    private var last = ContinuousClock.now
    private var count = 0
    private var running = 0

    init(bus: Bus) {
        let words = CommandLine.arguments
        self.bus = bus
        how = words[2]
        open = Int(words[3]) ?? 1
        left = words[4] == "calls" ? Int(words[5]) : nil
        warmUp = .seconds(Double(words[4]) ?? 0)
        seconds = .seconds(Double(words[5]) ?? 1)
    }

    func didStart() async throws {
        running = open
        for _ in 0..<open { try bus.background { try await self.call() } }
    }

    private func call() async throws {
        let body: [UInt8] = Array("\"\(String(repeating: "x", count: 62))\"".utf8)
        if how == "typed" {
            repeat { _ = try await bus.call(Test.Store()) } while isGoingOn()
        } else {
            let action = how == "async" ? "Test/action2" : "Test/action1"
            repeat { _ = try await bus.call(action, bytes: body) } while isGoingOn()
        }
        running -= 1
        if running == 0 {
            let taken = (first ?? begun).duration(to: last)
            print("done \(count) \(taken / .seconds(1))")
            exit(0)
        }
    }

    /// Counts an answer; whether another call is to be made.
    private func isGoingOn() -> Bool {
        if let left {
            count += 1
            self.left = left - 1
            return left > open
        }
        let now = ContinuousClock.now
        guard let first else {
            if begun.duration(to: now) >= warmUp { first = now }
            return true
        }
        guard first.duration(to: last) < seconds else { return false }
        count += 1
        last = now
        return true
    }
}
