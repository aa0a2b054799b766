/// A pattern for names: `*` stands for any characters, `?` for one.
struct Glob {
    private let pattern: [Character]

    init(_ pattern: String) { self.pattern = Array(pattern) }

    /// Whether a text has characters that stand for others.
    static func isOne(_ text: String) -> Bool { text.contains { $0 == "*" || $0 == "?" } }

    /// Takes time in proportion to both lengths: the last `*` alone is tried again.
    func matches(_ text: String) -> Bool {
        let text = Array(text)
        var (place, at) = (0, 0)
        var star: (place: Int, at: Int)?
        while at < text.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, at)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[at] {
                place += 1
                at += 1
            } else if let last = star {
                (place, at) = (last.place + 1, last.at + 1)
                star = (last.place, last.at + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
