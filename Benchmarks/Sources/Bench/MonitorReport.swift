internal import Glibc

/// What monitors cost a bus: the broker's CPU time, the callers' rate and the wait of a bystander,
/// beside a run without a monitor in the same round.
///
/// The broker has CPU 0, all others have CPU 1. Under the paced load there is a bystander besides, whose
/// calls are measured as ``OverloadRun`` does: it and the callee have CPU 0 and real-time priority.
struct MonitorReport {
    private enum Watcher: String, CaseIterable {
        case nobody = "nobody"
        case tool = "strata monitor"
        /// Takes what comes and gives credit for it, as fast as it can.
        case raw = "a raw monitor"
        /// What the live view asks of the bus for all its tabs: counts of all calls, and 200 frames a second.
        case liveView = "a live view"
    }

    private enum Load: String, CaseIterable {
        /// Two callers with a call each 667 µs, and the bystander with one each 500 µs; a call is two frames.
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
        /// The 99th percentile of the bystander's calls, in microseconds; nil where there is none.
        var wait: Double?
    }

    private let isQuick: Bool
    private let places: Places

    init(isQuick: Bool, _ places: Places) {
        self.isQuick = isQuick
        self.places = places
    }

    func run() throws {
        Console.say(
            "\("load".padded(16)) \("monitor".padded(15)) \("calls/s".padded(10)) \("µs a call".padded(10)) ratio  "
                + "p99 µs    ratio  frames/s seen")
        for load in Load.allCases {
            // Many short rounds, because a shared machine is slow for seconds at a time.
            let rounds = try (0..<(isQuick ? 1 : 15)).map { _ in
                try Watcher.allCases.map { try measure(load, $0) }
            }
            for (index, watcher) in Watcher.allCases.enumerated() {
                let calls = Self.median(rounds.map { $0[index].calls })
                let cost = Self.median(rounds.map { $0[index].cost })
                let ratio = Self.median(rounds.map { $0[index].cost / $0[0].cost })
                let told = Self.median(rounds.compactMap { $0[index].told })
                let wait = Self.median(rounds.compactMap { $0[index].wait })
                let waits = Self.median(rounds.compactMap { round in round[index].wait.map { $0 / round[0].wait! } })
                Console.say(
                    "\(load.rawValue.padded(16)) \(watcher.rawValue.padded(15)) \("\(Int(calls))".padded(10)) "
                        + "\("\(cost.rounded(toPlaces: 2))".padded(10)) \("\(ratio.rounded(toPlaces: 2))".padded(6)) "
                        + "\(Self.text(wait).padded(9)) \(Self.text(waits).padded(6)) "
                        + (told.isNaN ? "" : "\(Int(told))"))
            }
        }
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? .nan : values.sorted()[values.count / 2]
    }

    private static func text(_ value: Double) -> String { value.isNaN ? "" : "\(value.rounded(toPlaces: 2))" }

    private func measure(_ load: Load, _ watcher: Watcher) throws -> Outcome {
        let bus = try Bus(.strata, cpu: 0, in: places)
        defer { bus.end() }
        let address = bus.address.text
        let first = load == .paced ? Self.bystander : []
        let callee = try client("callee", address, first, cpu: load == .paced ? 0 : 1)
        defer { callee.kill() }
        guard try callee.line() == "ready" else { throw Failure("the callee isn't ready") }
        let monitors: [Child]
        switch watcher {
        case .nobody: monitors = []
        case .tool:
            monitors = [
                try Child(
                    ["sh", "-c", "exec \"$0\" monitor --json --socket \"$1\" > /dev/null", places.launcher, address],
                    cpu: 1)
            ]
            usleep(500_000)  // because it says nothing when it has begun
        case .raw:
            monitors = [try client("monitor", address, [])]
        case .liveView:
            monitors = [
                try client("monitor", address, ["--word", "traffic"]),
                try client("monitor", address, ["--word", "most", "--open", "200"]),
            ]
        }
        if watcher != .tool {
            for monitor in monitors where try monitor.line() != "ready" { throw Failure("a monitor isn't ready") }
        }
        defer { for monitor in monitors { monitor.kill() } }
        let seconds = 1.0
        let before = try processorTime(bus.mover)
        let begin = Self.now
        let calls: Double
        var wait: Double?
        switch load {
        case .paced:
            let time = ["--warm-up", "0", "--seconds", "\(seconds)"]
            let bystander = try client("paced", address, Self.bystander + ["--gap", "500"] + time, cpu: 0)
            let callers = try [1, 2].map { index in
                try client("paced", address, ["--index", "\(index)", "--gap", "667"] + time)
            }
            for caller in callers + [bystander] {
                guard try caller.line() == "ready" else { throw Failure("a caller isn't ready") }
                caller.release()
            }
            let figures = try Self.numbers(bystander.line())
            wait = figures[2]
            calls = try callers.map { try Self.numbers($0.line())[0] }.reduce(figures[0], +)
        case .full:
            let caller = try client(
                "caller", address, ["--open", "64", "--warm-up", "0", "--seconds", "\(seconds)"])
            calls = try Self.numbers(caller.line())[0]
        }
        let taken = Self.now - begin
        let cost = (try processorTime(bus.mover) - before) / calls * 1e6
        for monitor in monitors { monitor.release() }
        let told = try watcher == .raw ? Self.numbers(monitors[0].line())[0] / taken : nil
        return Outcome(calls: calls / taken, cost: cost, told: told, wait: wait)
    }

    private static let bystander = ["--realtime", "1"]

    private func client(_ scenario: String, _ address: String, _ options: [String], cpu: Int = 1) throws -> Child {
        try Child([places.program("bench-client"), "strata", scenario, address] + options, cpu: cpu)
    }

    /// The numbers of a line such as `done 12345 1.003`.
    private static func numbers(_ line: String) throws -> [Double] {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Double($0) }
        guard words.first == "done", !numbers.isEmpty else { throw Failure("a client said: \(line)") }
        return numbers
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
