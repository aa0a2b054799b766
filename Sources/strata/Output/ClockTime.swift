/// A time of day, in UTC.
enum ClockTime {
    /// `12:34:56.789`
    /// - Parameters:
    ///   - microseconds: since 1970.
    ///   - digits: of the second's fraction, 6 at most.
    static func text(_ microseconds: Int64, digits: Int) -> String {
        func padded(_ number: Int64, _ digits: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        let second = microseconds / 1_000_000 % 86_400
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(clock).\(padded(microseconds % 1_000_000, 6).prefix(digits))"
    }
}
