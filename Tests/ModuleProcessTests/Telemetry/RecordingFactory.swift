import CoreMetrics

@testable import Strata

/// Keeps all values that metrics get, by `name{label=value,…}`.
final class RecordingFactory: MetricsFactory {
    private let values = Locked<[String: Int64]>([:])
    private let made = Locked<[String: Int]>([:])

    /// The value of a counter or a meter, or the number of a timer's values.
    subscript(_ name: String) -> Int64? { values.withLock { $0[name] } }
    var names: [String] { values.withLock { $0.keys.sorted() } }
    /// How often each metric was made.
    var makings: [String: Int] { made.withLock { $0 } }

    private func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
        let labels = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
        let name = labels.isEmpty ? label : "\(label){\(labels)}"
        made.withLock { $0[name, default: 0] += 1 }
        return Handler { [values] change in
            values.withLock { $0[name] = change($0[name] ?? 0) }
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { handler(label, dimensions) }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { handler(label, dimensions) }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { handler(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handler(label, dimensions)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}

    private final class Handler: CounterHandler, MeterHandler, TimerHandler, RecorderHandler {
        private let change: @Sendable ((Int64) -> Int64) -> Void

        init(_ change: @escaping @Sendable ((Int64) -> Int64) -> Void) { self.change = change }

        func increment(by amount: Int64) { change { $0 + amount } }
        func reset() { change { _ in 0 } }
        func set(_ value: Int64) { change { _ in value } }
        func set(_ value: Double) { change { _ in Int64(value) } }
        func increment(by amount: Double) { change { $0 + Int64(amount) } }
        func decrement(by amount: Double) { change { $0 - Int64(amount) } }
        func recordNanoseconds(_ duration: Int64) { change { $0 + 1 } }
        func record(_ value: Int64) { change { $0 + 1 } }
        func record(_ value: Double) { change { $0 + 1 } }
    }
}
