/// The parts of an app's start that delayed it.
extension StartTimeline {
    /// A part of a module's start that the app waited for.
    public struct Step: Sendable, Equatable {
        public var module: String
        public var span: Span
    }

    /// The largest difference between times of different modules that counts as none, in
    /// microseconds. Each start takes the wall clock once, so the times are only that accurate.
    private static let slack: Int64 = 200

    /// The module that took longest itself, among those that the app waits for. If it waits for
    /// none, all modules count.
    public var longest: Row? {
        let awaited = rows.filter { $0.start == "eager" && !isLate($0) && !$0.spans.isEmpty }
        let candidates = awaited.isEmpty ? rows.filter { !$0.spans.isEmpty } : awaited
        return candidates.max { $0.own < $1.own }
    }

    /// The chain of parts that led to the app being ready, first part first. Each part is preceded
    /// by the one that ended last before it began. Only shortening one of these would have made the
    /// app ready earlier.
    public var criticalPath: [Step] {
        let steps = rows.filter { $0.start == "eager" && !isLate($0) }.flatMap { row in
            row.spans.filter { $0.phase != .waiting }.map { Step(module: row.name, span: $0) }
        }
        guard let ready, let last = steps.filter({ $0.span.to <= ready }).max(by: { $0.span.to < $1.span.to }) else {
            return []
        }
        var path = [last]
        var rest = steps
        while let first = path.first {
            // Each step occurs only once, so this ends.
            rest.removeAll { $0 == first }
            let before = rest.filter {
                $0.span.to <= first.span.from + Self.slack && $0.span.from < first.span.from
            }
            guard let next = before.max(by: { $0.span.to < $1.span.to }) else { break }
            path.insert(next, at: 0)
        }
        return path
    }

    /// A line for people that says when the app was ready, and what took longest.
    public var summary: String {
        var parts: [String] = []
        if let begun, let ready {
            parts.append("ready after \(Self.text(ready - begun))")
        } else if begun != nil {
            parts.append("not ready yet")
        }
        if let longest {
            var text = "\(longest.name) took longest, \(Self.text(longest.own))"
            let spans = longest.spans.filter { $0.phase != .waiting }
            if spans.count > 1, let most = spans.max(by: { $0.microseconds < $1.microseconds }) {
                text += " (\(most.phase.rawValue) \(Self.text(most.microseconds)))"
            }
            parts.append(text)
        }
        return parts.isEmpty ? "nothing was started yet" : parts.joined(separator: "; ")
    }

    /// The critical path as a line for people; nil if there is none. Steps of less than a fiftieth
    /// of it are left out.
    public var pathSummary: String? {
        let path = criticalPath
        guard !path.isEmpty else { return nil }
        let all = path.reduce(0) { $0 + $1.span.microseconds }
        let long = path.filter { $0.span.microseconds * 50 >= all }
        let words = long.enumerated().map { index, step in
            let isSame = index > 0 && long[index - 1].module == step.module
            return "\(isSame ? "" : "\(step.module) ")\(step.span.phase.rawValue) \(Self.text(step.span.microseconds))"
        }
        let short = path.count - long.count
        let rest = short == 0 ? "" : ", and \(short) short \(short == 1 ? "step" : "steps")"
        return "critical path: \(words.joined(separator: " → "))\(rest)"
    }

    /// Returns a duration as text: `850 µs`, `12.3 ms`, `4.56 s`, `3m07s`.
    public static func text(_ microseconds: Int64) -> String {
        func digits(_ value: Int64, _ unit: Int64, _ count: Int) -> String {
            let scale: Int64 = count == 1 ? 10 : 100
            let rounded = (value * scale + unit / 2) / unit
            let rest = "\(rounded % scale)"
            return "\(rounded / scale)." + String(repeating: "0", count: count - rest.utf8.count) + rest
        }
        switch microseconds {
        case ..<1_000: return "\(microseconds) µs"
        case ..<1_000_000: return "\(digits(microseconds, 1_000, 1)) ms"
        case ..<60_000_000: return "\(digits(microseconds, 1_000_000, 2)) s"
        default:
            let seconds = microseconds / 1_000_000
            let rest = seconds % 60
            return "\(seconds / 60)m\(rest < 10 ? "0" : "")\(rest)s"
        }
    }
}
