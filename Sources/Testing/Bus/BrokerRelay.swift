internal import Glibc
internal import StrataBus
internal import StrataCore
internal import StrataLoop

/// The broker of a test's thread, and, where the environment has
/// `STRATA_TEST_HANDOVER`, the one that it is replaced with after each round of
/// the loop: whatever a test does, it is done to a broker that was just made of
/// what another one wrote down.
final class BrokerRelay: NextBroker {
    var broker: Broker?
    private let loop: Loop
    private var hook: RoundHook?
    private var isEnding = false

    init(_ loop: Loop) { self.loop = loop }

    func handOverEachRound() {
        hook = RoundHook(loop) { [unowned self] in
            guard !isEnding, let broker else { return }
            if let problem = broker.handOver(to: self) {
                preconditionFailure("the broker was not replaced: \(problem)")
            }
        }
    }

    func shutDown(then: @escaping () -> Void) {
        isEnding = true
        hook?.close()
        hook = nil
        broker?.shutDown(then: then)
    }

    func tryOut(_ state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void) {
        close(state)
        then(nil)
    }

    func become(_ state: Int32, keeping descriptors: [Int32], letGo: () -> Void) -> String? {
        letGo()
        defer { close(state) }
        do {
            broker = try Broker(loop, resuming: state)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
