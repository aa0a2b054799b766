import Glibc
import StrataCore

/// A table for a person, with columns as wide as their content.
///
/// If the terminal is too narrow, the flexible columns become narrower, and their text continues
/// on further lines. Nothing is cut off, and words are broken only if they can't all fit. A table
/// of single lines first leaves out its optional columns, the last one first, and then cuts text.
struct Table {
    struct Column {
        var title: String
        var isRight = false
        /// Whether it becomes narrower if the terminal isn't wide enough.
        var isFlexible = false
        /// Whether a table of single lines leaves it out if the terminal isn't wide enough.
        var isOptional = false

        init(_ title: String, isRight: Bool = false, isFlexible: Bool = false, isOptional: Bool = false) {
            self.title = title
            self.isRight = isRight
            self.isFlexible = isFlexible
            self.isOptional = isOptional
        }
    }

    struct Cell {
        var text: String
        var colour: Colour
        /// Parts of the text in colours of their own; empty if the text has one colour.
        var pieces: [(text: String, colour: Colour)] = []

        init(_ text: String, _ colour: Colour = .plain) {
            self.text = Printable.line(text)
            self.colour = colour
        }

        /// A number, which is dimmed if it is 0.
        static func count(_ value: Int64, _ colour: Colour = .plain) -> Cell {
            .init("\(value)", value == 0 ? .dim : colour)
        }

        /// Makes a cell that is not broken into lines.
        init(pieces: [(text: String, colour: Colour)]) {
            self.init(pieces.map(\.text).joined())
            self.pieces = pieces
        }

        /// Returns the whole text, or a line of it, in its colours.
        func painted(_ line: String, _ painter: Painter) -> String {
            guard !pieces.isEmpty, line == text else { return painter.paint(line, colour) }
            return pieces.map { painter.paint($0.text, $0.colour) }.joined()
        }
    }

    private static let narrowest = 8
    static let gap = "  "

    private var columns: [Column]
    private var rows: [[Cell]] = []
    /// Whether each row has only one line.
    private let isOfSingleLines: Bool

    init(columns: [Column], isOfSingleLines: Bool = false) {
        self.columns = columns
        self.isOfSingleLines = isOfSingleLines
    }

    /// Adds a row, with a cell for each column.
    mutating func add(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "\(cells.count) cells for \(columns.count) columns")
        rows.append(cells)
    }

    /// Writes the table to stdout, within the terminal's width.
    func print(_ painter: Painter) {
        for line in lines(width: Self.terminalWidth, painter) { StandardOutput.write(line: line) }
    }

    /// The terminal's width in columns, at least 80.
    static var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return 80 }
        return max(80, Int(size.ws_col))
    }

    /// The width of the table's content.
    var width: Int { widths(fitting: .max).reduce(0, +) + Self.gap.count * (columns.count - 1) }

    func lines(width: Int, _ painter: Painter) -> [String] {
        if isOfSingleLines, self.width > width, let index = columns.lastIndex(where: \.isOptional) {
            var narrower = self
            narrower.columns.remove(at: index)
            for row in rows.indices { narrower.rows[row].remove(at: index) }
            return narrower.lines(width: width, painter)
        }
        let widths = widths(fitting: width)
        let titles = columns.map { Cell($0.title, .dim) }
        return ([titles] + rows).flatMap { row in
            let cells = zip(row, widths).map {
                isOfSingleLines ? [Paragraph.cut($0.text, width: $1)] : Paragraph.lines($0.text, width: $1)
            }
            return (0..<(cells.map(\.count).max() ?? 0)).map { index in
                line(cells.map { index < $0.count ? $0[index] : "" }, row, widths, painter)
            }
        }
    }

    private func line(
        _ texts: [String], _ cells: [Cell], _ widths: [Int], _ painter: Painter
    ) -> String {
        var line = ""
        var waiting = ""
        for index in columns.indices {
            if index > 0 { waiting += Self.gap }
            let room = String(repeating: " ", count: max(0, widths[index] - texts[index].count))
            if columns[index].isRight { waiting += room }
            if !texts[index].isEmpty {
                // Leave out spaces at a line's end.
                line += waiting + cells[index].painted(texts[index], painter)
                waiting = ""
            }
            if !columns[index].isRight { waiting += room }
        }
        return line
    }

    private func widths(fitting total: Int) -> [Int] {
        var widths = columns.indices.map { index in
            max(columns[index].title.count, rows.map { $0[index].text.count }.max() ?? 0)
        }
        var excess = widths.reduce(0, +) + Self.gap.count * (columns.count - 1) - total
        for least in excess > 0 ? [longestWords, longestWords.map { _ in Self.narrowest }] : [] {
            while excess > 0 {
                // The widest flexible column becomes narrower first.
                let flexible = widths.indices.filter { columns[$0].isFlexible && widths[$0] > least[$0] }
                guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { break }
                widths[widest] -= 1
                excess -= 1
            }
        }
        return widths
    }

    /// For each column, the width that breaks none of its words.
    private var longestWords: [Int] {
        columns.indices.map { index in
            rows.flatMap { $0[index].text.split(separator: " ") }.map(\.count).reduce(Self.narrowest, max)
        }
    }
}
