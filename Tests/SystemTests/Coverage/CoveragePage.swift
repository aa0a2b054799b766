import TestSupport

/// The rows of docs/coverage.md, or of another page with tests in the last cells of its tables.
struct CoveragePage {
    struct Row {
        let line: Int
        /// The heading above the row.
        let section: String
        /// The words in backticks in its first cell: codes and limits.
        let subjects: [String]
        /// The words of the form `SuiteTests/testName` in its last cell.
        let tests: [String]
        /// Everything else in its last cell.
        let strangers: [String]
    }

    let rows: [Row]

    init(_ path: String = "docs/coverage.md") throws {
        var rows: [Row] = []
        var section = ""
        var isBody = false
        for (index, line) in try Repository.lines(path).enumerated() {
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            guard line.hasPrefix("|") else {
                isBody = false
                continue
            }
            if line.hasPrefix("|---") {
                isBody = true
            } else if isBody {
                rows.append(Self.row(line, index + 1, section))
            }
        }
        self.rows = rows
    }

    func rows(of section: String) -> [Row] { rows.filter { $0.section.hasPrefix(section) } }

    private static func row(_ text: String, _ line: Int, _ section: String) -> Row {
        let cells = text.split(separator: "|").filter { $0 != " " }
        let words = cells.dropFirst().joined(separator: " ").split(separator: " ").map(String.init)
        return Row(
            line: line, section: section,
            subjects: (cells.first ?? "").split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) },
            tests: words.filter(isTest).map { String($0.dropFirst().dropLast()) },
            strangers: words.filter { !isTest($0) })
    }
    /// Whether a word is `SuiteTests/testName` in backticks.
    private static func isTest(_ word: String) -> Bool {
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && word.count > 4 && word.hasPrefix("`") && word.hasSuffix("`")
            && parts[0].hasSuffix("Tests") && parts[1].count > 1
    }
}
