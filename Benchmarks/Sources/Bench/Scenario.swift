/// A pattern of messages that contenders are compared in.
struct Scenario {
    enum Measure {
        /// Microseconds; less is better.
        case roundTrip
        /// Calls or deliveries a second; more is better.
        case rate

        func best(_ rounds: [Double]) -> Double {
            switch self {
            case .roundTrip: rounds.min() ?? .nan
            case .rate: rounds.max() ?? .nan
            }
        }
    }

    enum Traffic {
        /// So many callers, each with so many open calls, of one callee.
        case calls(callers: Int, open: Int)
        /// From one sender, with so many under way, to so many observers.
        case broadcasts(observers: Int, open: Int)
    }

    let name: String
    let measure: Measure
    let traffic: Traffic
    var body = 64
    /// All processes run on one CPU.
    var isPinned = true
    var contenders: [Contender] = [.floor, .strata, .dbus, .nats]

    static let all = [
        Scenario(
            name: "round trip, 64 B", measure: .roundTrip, traffic: .calls(callers: 1, open: 1),
            contenders: Contender.allCases),
        Scenario(
            name: "round trip, 64 KiB", measure: .roundTrip, traffic: .calls(callers: 1, open: 1), body: 64 << 10),
        Scenario(
            name: "64 open, 64 B", measure: .rate, traffic: .calls(callers: 1, open: 64),
            contenders: Contender.allCases),
        Scenario(
            name: "8 callers × 16 open, 64 B", measure: .rate, traffic: .calls(callers: 8, open: 16),
            isPinned: false),
        Scenario(
            name: "broadcasts 1 → 16, 64 B", measure: .rate, traffic: .broadcasts(observers: 16, open: 512),
            isPinned: false),
    ]
}
