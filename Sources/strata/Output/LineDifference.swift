/// The difference of two texts as `diff -u` shows it.
struct LineDifference {
    private static let context = 3

    private struct Line {
        /// A space, - or +.
        var mark: Character
        var text: Substring
        /// The numbers of the next lines before it, in both texts, from 0.
        var old, new: Int
    }

    private let path: String
    private let lines: [Line]

    /// - Parameter path: The name of both texts.
    init(_ before: [UInt8], _ after: [UInt8], path: String) {
        self.path = path
        let old = Self.lines(String(decoding: before, as: UTF8.self))
        let new = Self.lines(String(decoding: after, as: UTF8.self))
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [Line] = []
        var (i, j) = (0, 0)
        while i < old.count || j < new.count {
            if i < old.count, removed.contains(i) {
                lines.append(Line(mark: "-", text: old[i], old: i, new: j))
                i += 1
            } else if j < new.count, inserted.contains(j) {
                lines.append(Line(mark: "+", text: new[j], old: i, new: j))
                j += 1
            } else {
                lines.append(Line(mark: " ", text: old[i], old: i, new: j))
                (i, j) = (i + 1, j + 1)
            }
        }
        self.lines = lines
    }

    /// The lines of the difference, with its colours on a terminal; none if the texts are the same.
    func shown(_ painter: Painter) -> [String] {
        let changes = lines.indices.filter { lines[$0].mark != " " }
        guard !changes.isEmpty else { return [] }
        var shown = [painter.paint("--- \(path)", .bold), painter.paint("+++ \(path)", .bold)]
        var rest = changes[...]
        while let first = rest.first {
            var last = first
            while let next = rest.first, next <= last + 2 * Self.context + 1 {
                last = next
                rest.removeFirst()
            }
            let hunk = lines[max(0, first - Self.context)...min(lines.count - 1, last + Self.context)]
            let (old, new) = (hunk.count { $0.mark != "+" }, hunk.count { $0.mark != "-" })
            let start = hunk[hunk.startIndex]
            // A range of no lines has the number of the line before it.
            let places = "-\(start.old + (old > 0 ? 1 : 0)),\(old) +\(start.new + (new > 0 ? 1 : 0)),\(new)"
            shown.append(painter.paint("@@ \(places) @@", .cyan))
            for line in hunk {
                let text = line.text.last == "\n" || line.text.last == "\r\n" ? line.text.dropLast() : line.text
                let colour: Colour = line.mark == "+" ? .green : line.mark == "-" ? .red : .plain
                shown.append(painter.paint("\(line.mark)\(text)", colour))
                if text.endIndex == line.text.endIndex { shown.append("\\ No newline at end of file") }
            }
        }
        return shown
    }

    /// Returns the lines with their ends.
    private static func lines(_ text: String) -> [Substring] {
        var lines: [Substring] = []
        var rest = text[...]
        while let end = rest.firstIndex(where: { $0 == "\n" || $0 == "\r\n" }) {
            let next = rest.index(after: end)
            lines.append(rest[..<next])
            rest = rest[next...]
        }
        if !rest.isEmpty { lines.append(rest) }
        return lines
    }
}
