public import StrataCore
import StrataLoop

/// The state of a bus and its modules at one moment: the result of ``BusClient/look(measuring:)``.
public struct BusSnapshot: Sendable {
    /// The answer to hello.
    public let welcome: Welcome
    /// The modules in the bus's order.
    public let modules: [ModuleRow]
    /// The app's nodes; empty if it runs on one machine, or if the metrics weren't requested.
    public let nodes: [NodeRow]
    /// The broker's counters.
    public let stats: BusStats
    /// The metrics that modules keep themselves, by name; empty if they weren't requested.
    public let measured: [MeasuredModule]
    /// The time of the snapshot, on the clock of `Loop.nanoseconds`.
    public let time: UInt64
    /// The broker's own resident memory in bytes, anonymous and shared; nil if its process isn't on
    /// this machine.
    public let brokerMemory: UInt64?

    /// Also reads the current memory of the processes, if they are on this machine.
    /// - Parameter isHere: whether the bus is that of this machine's node.
    init(
        welcome: Welcome, modules: [ModuleRow], stats: BusStats, measured: [MeasuredModule], at time: UInt64,
        nodes: [NodeRow] = [], isHere: Bool = true
    ) {
        self.nodes = nodes
        (self.welcome, self.stats, self.time) = (welcome, stats, time)
        self.measured = measured.sorted { $0.name < $1.name }
        self.modules = modules.map { row in
            var row = row
            row.memory = isHere ? row.pid.flatMap(ProcessFiles.memory) : nil
            return row
        }
        brokerMemory = isHere ? stats.pid.flatMap(ProcessFiles.memory) : nil
    }

    /// The number of ready modules.
    public var ready: Int { modules.count(where: \.isReady) }

    /// Returns the sum of a figure over all modules.
    public func sum(_ figure: KeyPath<ModuleRow, Int64>) -> Int64 { modules.reduce(0) { $0 + $1[keyPath: figure] } }

    /// Returns the increase of a counter per second since an earlier snapshot; 0 without one. A
    /// restarted broker counts from 0 again.
    public func perSecond(_ counter: BusStats.Counter, since before: BusSnapshot?) -> Int64 {
        guard let before, time > before.time else { return 0 }
        let more = (stats[counter] ?? 0) - (before.stats[counter] ?? 0)
        guard more > 0 else { return 0 }
        return Int64((Double(more) * 1e9 / Double(time - before.time)).rounded())
    }

    /// The counters that ``load(since:)`` includes.
    public static let rates: [BusStats.Counter] = [.calls, .errors, .broadcasts, .notices, .reports]

    /// Returns the bus's load for a program: totals, rates since an earlier snapshot, and the
    /// memory of each module. The members are those of `strata top --json`.
    public func load(since before: BusSnapshot?) -> JSON {
        func integers(_ values: [(String, Int64)]) -> [JSON.Member] { values.map { .init($0.0, .integer($0.1)) } }
        let times = stats.callTimes
        let memory = modules.compactMap { row in row.memory.map { (row.name, Int64(clamping: $0)) } }
        return .object(
            [.init("app", .string(welcome.app))]
                + integers([("modules", Int64(modules.count)), ("ready", Int64(ready))])
                + integers(Self.rates.map { ("\($0)PerSecond", perSecond($0, since: before)) })
                + integers(Self.rates.map { ("\($0)", stats[$0] ?? 0) })
                + integers([
                    ("p50Microseconds", times.p50), ("p99Microseconds", times.p99), ("maxMicroseconds", times.max),
                    ("open", sum(\.open)), ("waiting", sum(\.waiting)), ("queued", sum(\.queued)),
                    ("restarts", sum(\.restarts)),
                ]) + [.init("memory", .object(integers(memory)))])
    }
}

/// Snapshots of a bus.
extension BusClient {
    /// Requests the state of the bus and its modules.
    /// - Parameters:
    ///   - measuring: whether to also request the metrics of each ready module, which has 1 s to
    ///     answer.
    ///   - onDone: called once, when all have answered or can't; gets the bus's first error.
    public func look(measuring: Bool = false, onDone: @escaping (Result<BusSnapshot, ClientError>) -> Void) {
        var modules: [ModuleRow] = []
        var stats: BusStats?
        var measured: [MeasuredModule] = []
        var nodes: [NodeRow] = []
        var failure: ClientError?
        var open = 2
        let node = node
        func keep(_ answer: Result<JSON, ClientError>, _ use: (JSON) -> Void) {
            switch answer {
            case .success(let json): use(json)
            case .failure(let error): failure = failure ?? error
            }
            end()
        }
        func end() {
            open -= 1
            guard open == 0 else { return }
            guard let welcome, let stats, failure == nil else { return onDone(.failure(failure ?? loss)) }
            onDone(
                .success(
                    BusSnapshot(
                        welcome: welcome, modules: modules, stats: stats, measured: measured, at: Loop.nanoseconds,
                        nodes: nodes, isHere: node == nil)))
        }
        ask("bus/modules") { [unowned self] answer in
            keep(answer) {
                modules = [ModuleRow]($0)
                for row in modules where measuring && row.isReady {
                    open += 1
                    send(MeasuredModule.request(row.name)) { answer in
                        if let module = MeasuredModule(row.name, answer) { measured.append(module) }
                        end()
                    }
                }
            }
        }
        ask("bus/stats") { answer in keep(answer) { stats = BusStats($0) } }
        if measuring, welcome?.features.contains(BrokerFeature.node) == true {
            open += 1
            ask("bus/nodes") { answer in keep(answer) { nodes = [NodeRow]($0) } }
        }
    }
}

/// The broker's counters since its start, from `bus/stats`.
public struct BusStats: Sendable {
    /// A thing that the broker counts.
    public enum Counter: String, CaseIterable, Sendable {
        case calls, opens, replies, errors, broadcasts, notices, reports, violations, dropped, slowConsumers
        case badFrames, replaced
    }

    /// The durations of calls, in microseconds; 0 if no call has been answered.
    public struct CallTimes: Sendable {
        /// The number of answered calls.
        public let count: Int64
        /// The longest durations among the fastest 50 %, 90 %, 99 % and 100 % of the calls.
        public let p50, p90, p99, max: Int64
    }

    /// The JSON from the bus.
    public let json: JSON

    init(_ json: JSON) { self.json = json }

    /// The value of a counter; nil if the broker doesn't have it.
    public subscript(_ counter: Counter) -> Int64? { json["counters"]?[counter.rawValue]?.integer }

    /// The number of error answers to requests or connections, by code.
    public var errors: [(code: String, count: Int64)] {
        (json["errors"]?.object ?? []).compactMap { member in member.value.integer.map { (member.name, $0) } }
    }

    /// The durations of all calls since the broker's start.
    public var callTimes: CallTimes {
        func figure(_ name: String) -> Int64 { json["callMicroseconds"]?[name]?.integer ?? 0 }
        return CallTimes(
            count: figure("count"), p50: figure("p50"), p90: figure("p90"), p99: figure("p99"), max: figure("max"))
    }

    /// The broker's process; nil if it doesn't report it.
    public var pid: Int32? { json["pid"]?.integer.flatMap { $0 > 0 ? Int32(clamping: $0) : nil } }
}
