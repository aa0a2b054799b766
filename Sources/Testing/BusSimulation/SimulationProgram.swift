internal import CUV
internal import Glibc

/// The program behind `scripts/simulate`, which runs simulations for one seed after another.
///
/// Each processor runs a separate process. So a bus that crashes or hangs is found like any other
/// mistake. The program shortens and prints what it found.
package struct SimulationProgram {
    private static let usage = """
        usage: simulate [--nodes] [--seeds N | --seconds N | --minutes N] [--from SEED] [--steps N] [--unshrunk]
               simulate [--nodes] --seed SEED [--steps N] [--unshrunk | --story]
        """
    /// The seconds after which a seed counts as hanging. Most seeds take some milliseconds.
    private static let patience: UInt32 = 30

    private var seeds = 1_000
    private var seconds: Int?
    private var first = 1
    private var steps = BusSimulation.defaultSteps
    private var shrinks = true
    private var isTold = false
    private var isSingle = false
    /// What is simulated: one bus, or joined brokers.
    private var kind: any SeededSimulation.Type = BusSimulation.self

    /// Does what the arguments say, and ends the process. The exit code is 1 if a rule was
    /// broken.
    package static func main() -> Never {
        var program = SimulationProgram()
        guard program.read(CommandLine.arguments.dropFirst()) else {
            let text = Array((usage + "\n").utf8)
            _ = write(STDERR_FILENO, text, text.count)
            exit(2)
        }
        // An ignored SIGCHLD is inherited, and then waiting for the child processes would fail.
        signal(SIGCHLD, SIG_DFL)
        exit(program.run() ? 0 : 1)
    }

    private mutating func read(_ arguments: ArraySlice<String>) -> Bool {
        var rest = arguments
        while let option = rest.popFirst() {
            if option == "--unshrunk" {
                shrinks = false
                continue
            }
            if option == "--story" {
                isTold = true
                continue
            }
            if option == "--nodes" {
                kind = NodeSimulation.self
                continue
            }
            guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else { return false }
            switch option {
            case "--seeds": seeds = value
            case "--seconds": (seconds, seeds) = (value, 1 << 60)
            case "--minutes": (seconds, seeds) = (value * 60, 1 << 60)
            case "--from": first = value
            case "--steps": steps = value
            case "--seed": (first, seeds, isSingle) = (value, 1, true)
            default: return false
            }
        }
        return true
    }

    // MARK: Many seeds

    /// The progress of one process, which alone writes it.
    private struct Progress {
        var seed = 0
        var seeds = 0
        var events = 0
    }

    /// The number of seeds that one process simulates.
    ///
    /// A replaced bus leaves reference cycles, because a real broker's memory ends with its
    /// program. Here it ends with the process.
    private static let slice = 500

    private func run() -> Bool {
        if isTold { return tellStory(first, nil) }
        let places = isSingle ? 1 : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let size = places * MemoryLayout<Progress>.stride
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else {
            // Because the processes couldn't report which seed they are running.
            fatalError("there is no memory to share")
        }
        let progress = memory.bindMemory(to: Progress.self, capacity: places)
        let start = ContinuousClock.now
        let end = seconds.map { start + .seconds($0) }
        var (next, failed): (Int, [Int]) = (first, [])
        var running: [pid_t: Int] = [:]
        while true {
            while running.count < places, next < first + seeds, failed.isEmpty,
                end.map({ ContinuousClock.now < $0 }) ?? true
            {
                // Because fewer processes run than there are places.
                let place = (0..<places).first { !running.values.contains($0) }!
                let range = next..<min(next + Self.slice, first + seeds)
                running[Self.fork { self.simulate(range, until: end, progress + place) }] = place
                next = range.upperBound
            }
            guard !running.isEmpty else { break }
            let (process, ending) = Self.waitForAny()
            guard let place = running.removeValue(forKey: process) else { continue }
            if ending != .clean { failed.append(progress[place].seed) }
        }
        let (seeds, events) = (0..<places).reduce((0, 0)) { ($0.0 + progress[$1].seeds, $0.1 + progress[$1].events) }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        if let seed = failed.min() { tell(seed) }
        print(
            "\(seeds) seeds, \(events) events, \(Int(Double(events) / elapsed)) a second: "
                + (failed.isEmpty ? "no finding" : "a finding"))
        return failed.isEmpty
    }

    private func simulate(
        _ seeds: Range<Int>, until end: ContinuousClock.Instant?, _ progress: UnsafeMutablePointer<Progress>
    ) -> Ending {
        for seed in seeds where end.map({ ContinuousClock.now < $0 }) ?? true {
            progress.pointee.seed = seed
            alarm(Self.patience)
            let result = kind.run(seed: seed, count: steps, kept: nil, telling: nil)
            if let finding = result.finding { return .rule(finding.rule) }
            progress.pointee.seeds += 1
            progress.pointee.events += Int(result.events)
        }
        return .clean
    }

    // MARK: A failed seed

    private func tell(_ seed: Int) {
        let ending = attempt(seed, nil)
        print("seed \(seed): \(describe(ending))")
        let options = (kind == BusSimulation.self ? "" : " --nodes") + " --seed \(seed)"
        print("again: scripts/simulate\(options)\(steps == BusSimulation.defaultSteps ? "" : " --steps \(steps)")")
        guard shrinks else { return }
        // Each attempt to shorten a hang would take as long as the hang.
        guard ending != .signal(SIGALRM) else {
            _ = tellStory(seed, nil)
            return
        }
        let count = kind.stepCount(seed: seed, count: steps)
        let kept = Shrinking.shortest(Array(0..<count)) { attempt(seed, $0) == ending }
        print("\(kept.count) of its \(count) steps are enough:")
        _ = tellStory(seed, kept)
    }

    /// - Parameter kept: the steps that are taken; nil for all.
    /// - Returns: whether no rule was broken.
    private func tellStory(_ seed: Int, _ kept: [Int]?) -> Bool {
        let process = Self.fork {
            alarm(Self.patience)
            // Flush each line at once, because the next step may be the last.
            let result = kind.run(seed: seed, count: steps, kept: kept) { line in
                print(line)
                fflush(nil)
            }
            if let finding = result.finding { print(finding.text) }
            return result.finding.map { .rule($0.rule) } ?? .clean
        }
        return Self.wait(process) == .clean
    }

    /// Runs a simulation with these steps in a process of its own, and returns how it ended.
    private func attempt(_ seed: Int, _ kept: [Int]?) -> Ending {
        Self.wait(
            Self.fork {
                alarm(Self.patience)
                let result = kind.run(seed: seed, count: steps, kept: kept, telling: nil)
                return result.finding.map { .rule($0.rule) } ?? .clean
            })
    }

    private func describe(_ ending: Ending) -> String {
        switch ending {
        case .clean: "no finding"
        case .rule(let rule): kind.rules[min(rule, kind.rules.count - 1)]
        case .signal(SIGALRM): "it hangs"
        case .signal(let number): "it ended with signal \(number)"
        }
    }

    // MARK: Processes

    /// How a simulation ended.
    private enum Ending: Equatable {
        case clean
        /// The rule that was broken, by its index.
        case rule(Int)
        case signal(Int32)
    }

    private static func fork(_ body: () -> Ending) -> pid_t {
        fflush(nil)
        let process = strata_fork()
        guard process == 0 else { return process }
        let ending = body()
        fflush(nil)
        if case .rule(let rule) = ending { _exit(1 + Int32(rule)) }
        _exit(0)
    }

    private static func wait(_ process: pid_t) -> Ending { waitForAny(process).ending }

    /// - Parameter process: the process to wait for; -1 for any.
    private static func waitForAny(_ process: pid_t = -1) -> (process: pid_t, ending: Ending) {
        var status: Int32 = 0
        var ended: pid_t = -1
        repeat { ended = waitpid(process, &status, 0) } while ended < 0 && errno == EINTR
        return (ended, ending(status))
    }

    private static func ending(_ status: Int32) -> Ending {
        guard status & 0x7F == 0 else { return .signal(status & 0x7F) }
        let code = Int(status >> 8 & 0xFF)
        return code == 0 ? .clean : .rule(code - 1)
    }
}
