import StrataCore

/// Remembers which lines of the modules were shown, so that none appears twice when the bus is
/// asked for them again.
struct ShownLines {
    /// A line's place among all lines that one launcher has read.
    private struct Place {
        /// When this launcher began to count, in microseconds since 1970.
        var since: Int64
        var number: Int64
    }

    /// The place of the last line that was shown; nil if there is none yet. Lines come in order on
    /// each connection.
    private var last: Place?
    /// When the lines were first requested, in microseconds since 1970. If the request is repeated
    /// before any line was shown, older lines are left out.
    private let began: Int64
    private var isResumed = false

    init(since began: Int64) { self.began = began }

    /// Notes that the request is repeated, so all kept lines will come again.
    mutating func resume() { isResumed = true }

    /// Returns whether a line, which is a partial reply of `launcher/logs`, is new. A new line then
    /// counts as shown.
    mutating func isNew(_ entry: JSON) -> Bool {
        guard let since = entry["since"]?.integer, let number = entry["number"]?.integer else { return true }
        if let last {
            // A new launcher counts anew, so all its lines are new.
            if last.since == since, number <= last.number { return false }
        } else if isResumed, let at = entry["at"]?.integer, at < began {
            return false
        }
        last = Place(since: since, number: number)
        return true
    }
}
