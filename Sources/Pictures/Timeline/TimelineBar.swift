/// A module's start as a line of characters of one width.
public enum TimelineBar {
    /// What each character stands for; nil where nothing was going on.
    /// - Parameter width: at least 1.
    public static func cells(_ row: StartTimeline.Row, _ timeline: StartTimeline, width: Int) -> [StartTimeline.Phase?]
    {
        var cells = [StartTimeline.Phase?](repeating: nil, count: width)
        let range = timeline.range
        // One that came later begins at the left.
        let begin = timeline.isLate(row) ? row.begun ?? range.lowerBound : range.lowerBound
        let length = Double(range.upperBound - range.lowerBound)
        func cell(_ time: Int64) -> Int {
            min(width - 1, max(0, Int(Double(time - begin) / length * Double(width))))
        }
        for span in row.spans where span.phase == .waiting {
            for index in cell(span.from)...cell(span.to) { cells[index] = .waiting }
        }
        // What is short is seen too, and what is longer is put over it.
        let own = row.spans.filter { $0.phase != .waiting }.sorted { $0.microseconds < $1.microseconds }
        for span in own {
            let first = cell(span.from)
            // A cell belongs to what begins in it.
            for index in first...max(first, cell(span.to) - 1) { cells[index] = span.phase }
        }
        return cells
    }
}
