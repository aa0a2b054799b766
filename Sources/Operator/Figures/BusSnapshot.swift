public import StrataCore
import StrataLoop

/// How a bus and its modules are at a moment: what ``BusClient/look(measuring:)`` finds.
public struct BusSnapshot: Sendable {
    /// What hello was answered with.
    public let welcome: Welcome
    /// In the bus's order.
    public let modules: [ModuleRow]
    /// What the broker has counted.
    public let stats: BusStats
    /// What modules measure themselves, by name; empty where they weren't asked.
    public let measured: [MeasuredModule]
    /// When the look was taken, on the clock of `Loop.nanoseconds`.
    public let time: UInt64
    /// The broker's own resident memory in bytes, anonymous and shared; nil where its process
    /// isn't on this machine.
    public let brokerMemory: UInt64?

    /// Looks for the processes' memory: it is as of now.
    init(welcome: Welcome, modules: [ModuleRow], stats: BusStats, measured: [MeasuredModule], at time: UInt64) {
        (self.welcome, self.stats, self.time) = (welcome, stats, time)
        self.measured = measured.sorted { $0.name < $1.name }
        self.modules = modules.map { row in
            var row = row
            row.memory = row.pid.flatMap(ProcessFiles.memory)
            return row
        }
        brokerMemory = stats.pid.flatMap(ProcessFiles.memory)
    }

    /// How many modules are ready.
    public var ready: Int { modules.count(where: \.isReady) }

    /// A figure of all modules.
    public func sum(_ figure: KeyPath<ModuleRow, Int64>) -> Int64 { modules.reduce(0) { $0 + $1[keyPath: figure] } }

    /// How much of a counter there was in a second since an earlier look; 0 without one. A
    /// broker that was started again begins anew.
    public func perSecond(_ counter: BusStats.Counter, since before: BusSnapshot?) -> Int64 {
        guard let before, time > before.time else { return 0 }
        let more = (stats[counter] ?? 0) - (before.stats[counter] ?? 0)
        guard more > 0 else { return 0 }
        return Int64((Double(more) * 1e9 / Double(time - before.time)).rounded())
    }

    /// The counters that ``load(since:)`` has.
    public static let rates: [BusStats.Counter] = [.calls, .errors, .broadcasts, .notices, .reports]

    /// What the bus does and holds, for a program: totals, rates since an earlier look, and
    /// the memory of each module, in the members that `strata top --json` has.
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

/// Looks at a bus.
extension BusClient {
    /// Asks how the bus and its modules are.
    /// - Parameters:
    ///   - measuring: whether each module that is ready is asked what it measures; it has 1 s.
    ///   - onDone: called once, when all have answered or can't; gets the bus's first error.
    public func look(measuring: Bool = false, onDone: @escaping (Result<BusSnapshot, ClientError>) -> Void) {
        var modules: [ModuleRow] = []
        var stats: BusStats?
        var measured: [MeasuredModule] = []
        var failure: ClientError?
        var open = 2
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
                        welcome: welcome, modules: modules, stats: stats, measured: measured, at: Loop.nanoseconds)))
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
    }
}

/// What a broker has counted since its start, as `bus/stats` tells it.
public struct BusStats: Sendable {
    /// Something that is counted.
    public enum Counter: String, CaseIterable, Sendable {
        case calls, opens, replies, errors, broadcasts, notices, reports, violations, dropped, slowConsumers
        case badFrames, replaced
    }

    /// How long calls took, in microseconds: 0 where none has been answered.
    public struct CallTimes: Sendable {
        /// How many were answered.
        public let count: Int64
        /// What half of them took at most; then nine tenths, 99 of a hundred, all.
        public let p50, p90, p99, max: Int64
    }

    /// As the bus told it.
    public let json: JSON

    init(_ json: JSON) { self.json = json }

    /// Nil where the broker doesn't count it.
    public subscript(_ counter: Counter) -> Int64? { json["counters"]?[counter.rawValue]?.integer }

    /// Errors that requests or connections were answered with, by code.
    public var errors: [(code: String, count: Int64)] {
        (json["errors"]?.object ?? []).compactMap { member in member.value.integer.map { (member.name, $0) } }
    }

    /// Of all calls since the broker's start.
    public var callTimes: CallTimes {
        func figure(_ name: String) -> Int64 { json["callMicroseconds"]?[name]?.integer ?? 0 }
        return CallTimes(
            count: figure("count"), p50: figure("p50"), p90: figure("p90"), p99: figure("p99"), max: figure("max"))
    }

    /// The broker's process; nil where it doesn't say.
    public var pid: Int32? { json["pid"]?.integer.flatMap { $0 > 0 ? Int32(clamping: $0) : nil } }
}
