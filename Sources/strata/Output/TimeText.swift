/// A time of day, in UTC.
enum ClockTime {
    /// Returns a time like `12:34:56.789`.
    /// - Parameters:
    ///   - microseconds: the time since 1970.
    ///   - digits: the digits of the second's fraction, 6 at most.
    static func text(_ microseconds: Int64, digits: Int) -> String {
        func padded(_ number: Int64, _ digits: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        let second = microseconds / 1_000_000 % 86_400
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return digits == 0 ? clock : "\(clock).\(padded(microseconds % 1_000_000, 6).prefix(digits))"
    }
}

/// The length of a time span, for a person.
enum Duration {
    /// Returns text like `30 s` or `250 ms`.
    static func text(_ milliseconds: UInt64) -> String {
        milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }

    /// Returns the two largest units, like `42s`, `3m07s`, `2h05m` or `4d03h`.
    static func short(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        switch seconds {
        case ..<60: return "\(seconds)s"
        case ..<3_600: return "\(seconds / 60)m\(two(seconds % 60))s"
        case ..<86_400: return "\(seconds / 3_600)h\(two(seconds / 60 % 60))m"
        default: return "\(seconds / 86_400)d\(two(seconds / 3_600 % 24))h"
        }
    }
}
