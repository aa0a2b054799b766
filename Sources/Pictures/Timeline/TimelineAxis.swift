/// Round times along a picture's edge.
struct TimelineAxis {
    /// From the beginning, in microseconds.
    let ticks: [Int64]

    /// - Parameter most: how many ticks there is room for, beside the one at 0.
    init(length: Int64, most: Int64 = 9) {
        var step: Int64 = 1
        // 1, 2, 5, 10, 20 …
        var factor = 0
        while length / step > most {
            step = factor % 3 == 1 ? step / 2 * 5 : step * 2
            factor += 1
        }
        ticks = (0...(length / step)).map { $0 * step }
    }

    /// `20 ms`; without digits behind the point, since ticks are round.
    static func label(_ tick: Int64) -> String {
        switch tick {
        case 0: "0"
        case _ where tick % 1_000_000 == 0: "\(tick / 1_000_000) s"
        case _ where tick % 1_000 == 0: "\(tick / 1_000) ms"
        default: "\(tick) µs"
        }
    }
}
