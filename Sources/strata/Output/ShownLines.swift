import StrataCore

/// Which of the modules' lines were shown, so that none comes twice where they are
/// asked for again.
struct ShownLines {
    /// The last time of a module's lines, and how many had it.
    private struct Mark {
        var at: Int64
        var count: Int
    }

    private var marks: [String: Mark] = [:]
    /// When the first were asked for, in microseconds since 1970: of a module that
    /// none was shown of, those before it aren't wanted.
    private let began: Int64
    /// By module: what was shown before, and comes again; nil as long as nothing is
    /// asked for again.
    private var before: [String: Mark]?

    init(since began: Int64) { self.began = began }

    /// All that is there comes again.
    mutating func resume() { before = marks }

    /// Whether a line, a partial reply of `launcher/logs`, wasn't shown yet; then it is
    /// noted as shown.
    mutating func isNew(_ entry: JSON) -> Bool {
        guard let module = entry["module"]?.string, let at = entry["at"]?.integer else { return true }
        if var mark = before?[module, default: Mark(at: began, count: .max)] {
            if at < mark.at { return false }
            if at == mark.at, mark.count > 0 {
                mark.count -= 1
                before?[module] = mark
                return false
            }
            // From the first new one on all are new, even if the clock was set back.
            before?[module] = Mark(at: .min, count: 0)
        }
        marks[module] = Mark(at: at, count: marks[module]?.at == at ? (marks[module]?.count ?? 0) + 1 : 1)
        return true
    }
}
