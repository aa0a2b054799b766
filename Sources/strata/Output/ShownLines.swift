import StrataCore

/// Remembers which of the modules' lines were shown, so that none is shown twice when they are
/// asked for again.
struct ShownLines {
    /// The place of a line among all that one launcher has read.
    private struct Place {
        /// The time at which this launcher began to count.
        var since: Int64
        var number: Int64
    }

    /// The place of the last line that was shown. Each connection brings lines in order.
    private var last: Place?
    /// The time of the first question, in microseconds since 1970. Until a line was shown, older
    /// lines that come again aren't wanted.
    private let began: Int64
    private var isResumed = false

    init(since began: Int64) { self.began = began }

    /// Notes that all kept lines will come again.
    mutating func resume() { isResumed = true }

    /// Returns whether a line, a partial reply of `launcher/logs`, wasn't shown yet. Then it
    /// counts as shown.
    mutating func isNew(_ entry: JSON) -> Bool {
        guard let since = entry["since"]?.integer, let number = entry["number"]?.integer else { return true }
        if let last {
            // All lines of another launcher are new.
            if last.since == since, number <= last.number { return false }
        } else if isResumed, let at = entry["at"]?.integer, at < began {
            return false
        }
        last = Place(since: since, number: number)
        return true
    }
}
