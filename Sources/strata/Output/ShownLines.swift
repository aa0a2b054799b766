import StrataCore

/// Which of the modules' lines were shown, so that none comes twice where they are
/// asked for again.
struct ShownLines {
    /// A line's place among all that one launcher has read.
    private struct Place {
        /// Which launcher's: when it began to count.
        var since: Int64
        var number: Int64
    }

    /// Of the line that was shown last. Each connection brings lines in their order.
    private var last: Place?
    /// When the first were asked for, in microseconds since 1970: until one was shown,
    /// those before it that come where they are asked for again aren't wanted.
    private let began: Int64
    private var isResumed = false

    init(since began: Int64) { self.began = began }

    /// All that is there comes again.
    mutating func resume() { isResumed = true }

    /// Whether a line, a partial reply of `launcher/logs`, wasn't shown yet; then it is
    /// noted as shown.
    mutating func isNew(_ entry: JSON) -> Bool {
        guard let since = entry["since"]?.integer, let number = entry["number"]?.integer else { return true }
        if let last {
            // Another launcher's lines are all new.
            if last.since == since, number <= last.number { return false }
        } else if isResumed, let at = entry["at"]?.integer, at < began {
            return false
        }
        last = Place(since: since, number: number)
        return true
    }
}
