/// What an abuser says at its end: what it has done, and what it was told.
struct AbuseTally: Codable {
    struct Refusal: Codable {
        let code: String
        let count: Int
        /// The last one's.
        let message: String
    }

    let seconds: Double
    /// By name: joined, ended, sent, answers, notices.
    let counts: [String: Int]
    let errors: [Refusal]

    /// Reads its lines: `done 1.5 joined 2 …`, `error 7 overloaded MESSAGE` …, `end`.
    init(from child: Child) throws {
        let line = try child.line()
        let words = line.split(separator: " ")
        guard words.count > 2, words[0] == "done", let seconds = Double(words[1]) else {
            throw Failure("an abuser said: \(line)")
        }
        self.seconds = seconds
        var counts: [String: Int] = [:]
        for index in stride(from: 2, to: words.count - 1, by: 2) {
            counts[String(words[index])] = Int(words[index + 1])
        }
        self.counts = counts
        var errors: [Refusal] = []
        while true {
            let line = try child.line()
            if line == "end" { break }
            let parts = line.split(separator: " ", maxSplits: 3)
            guard parts.count >= 3, parts[0] == "error", let count = Int(parts[1]) else {
                throw Failure("an abuser said: \(line)")
            }
            errors.append(
                Refusal(code: String(parts[2]), count: count, message: parts.count > 3 ? String(parts[3]) : ""))
        }
        self.errors = errors
    }

    /// The message in which the guilty one is named, if it came.
    func message(_ name: (code: String, part: String)) -> String? {
        errors.first { $0.code == name.code && $0.message.contains(name.part) }?.message
    }

    /// So many of a count a second.
    func rate(_ name: String) -> Double { Double(counts[name] ?? 0) / seconds }
}
