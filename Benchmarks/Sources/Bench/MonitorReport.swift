internal import Glibc

/// What monitors cost a bus: the broker's CPU time and the callers' rate, beside a run
/// without a monitor in the same round.
///
/// The broker has CPU 0, all others have CPU 1.
struct MonitorReport {
    private enum Watcher: String, CaseIterable {
        case nobody = "nobody"
        case tool = "strata monitor"
        /// Takes what comes and gives credit for it, as fast as it can.
        case raw = "a raw monitor"
    }

    private enum Load: String, CaseIterable {
        /// Two callers with a call each 400 µs; a call is two frames.
        case paced = "10,000 frames/s"
        /// One caller with 64 calls open.
        case full = "full speed"
    }

    private struct Outcome {
        /// A second.
        var calls: Double
        /// CPU time of the broker for a call, in microseconds.
        var cost: Double
        /// Frames that the monitor was sent, a second; nil where nobody counts.
        var told: Double?
    }

    private let isQuick: Bool
    private let places: Places

    init(isQuick: Bool, _ places: Places) {
        self.isQuick = isQuick
        self.places = places
    }

    func run() throws {
        Console.say(
            "\("load".padded(16)) \("monitor".padded(15)) \("calls/s".padded(10)) \("µs a call".padded(10)) ratio  frames/s seen"
        )
        for load in Load.allCases {
            let rounds = try (0..<(isQuick ? 1 : 5)).map { _ in
                try Watcher.allCases.map { try measure(load, $0) }
            }
            for (index, watcher) in Watcher.allCases.enumerated() {
                let calls = Self.median(rounds.map { $0[index].calls })
                let cost = Self.median(rounds.map { $0[index].cost })
                let ratio = Self.median(rounds.map { $0[index].cost / $0[0].cost })
                let told = Self.median(rounds.compactMap { $0[index].told })
                Console.say(
                    "\(load.rawValue.padded(16)) \(watcher.rawValue.padded(15)) \("\(Int(calls))".padded(10)) "
                        + "\("\(cost.rounded(toPlaces: 2))".padded(10)) \("\(ratio.rounded(toPlaces: 2))".padded(6)) "
                        + (watcher == .raw ? "\(Int(told))" : ""))
            }
        }
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? .nan : values.sorted()[values.count / 2]
    }

    private func measure(_ load: Load, _ watcher: Watcher) throws -> Outcome {
        let bus = try Bus(.strata, cpu: 0, in: places)
        defer { bus.end() }
        let address = bus.address.text
        let callee = try client("callee", address, [])
        defer { callee.kill() }
        guard try callee.line() == "ready" else { throw Failure("the callee isn't ready") }
        var monitor: Child?
        switch watcher {
        case .nobody: break
        case .tool:
            monitor = try Child(
                ["sh", "-c", "exec \"$0\" monitor --json --socket \"$1\" > /dev/null", places.launcher, address],
                cpu: 1)
            usleep(500_000)  // because it says nothing when it has begun
        case .raw:
            monitor = try client("monitor", address, [])
            guard try monitor?.line() == "ready" else { throw Failure("the monitor isn't ready") }
        }
        defer { monitor?.kill() }
        let seconds = isQuick ? 1.0 : 3.0
        let before = try processorTime(bus.mover)
        let begin = Self.now
        let calls: Double
        switch load {
        case .paced:
            let callers = try (0..<2).map { index in
                try client(
                    "paced", address,
                    ["--index", "\(index)", "--gap", "400", "--warm-up", "0", "--seconds", "\(seconds)"])
            }
            for caller in callers {
                guard try caller.line() == "ready" else { throw Failure("a caller isn't ready") }
                caller.release()
            }
            calls = try callers.map { try Self.number($0.line()) }.reduce(0, +)
        case .full:
            let caller = try client(
                "caller", address, ["--open", "64", "--warm-up", "0", "--seconds", "\(seconds)"])
            calls = try Self.number(caller.line())
        }
        let taken = Self.now - begin
        let cost = (try processorTime(bus.mover) - before) / calls * 1e6
        monitor?.release()
        let told = watcher == .raw ? try monitor.map { try Self.number($0.line()) / taken } : nil
        return Outcome(calls: calls / taken, cost: cost, told: told)
    }

    private func client(_ scenario: String, _ address: String, _ options: [String]) throws -> Child {
        try Child([places.program("bench-client"), "strata", scenario, address] + options, cpu: 1)
    }

    /// Of lines such as `done 12345 1.003`: the first number.
    private static func number(_ line: String) throws -> Double {
        let words = line.split(separator: " ")
        guard words.first == "done", words.count > 1, let number = Double(words[1]) else {
            throw Failure("a client said: \(line)")
        }
        return number
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// What a process has had of a CPU, in seconds.
    private func processorTime(_ process: Int32) throws -> Double {
        guard
            let time = try Files.text("/proc/\(process)/schedstat").split(separator: " ").first.flatMap({ Double($0) })
        else { throw Failure("the kernel doesn't say how long \(process) ran") }
        return time / 1e9
    }
}
