import StrataCore
import TestSupport
import Testing

/// docs/coverage.md names a test for each promise. The named tests exist, and no error code and
/// no limit is missing.
@Suite(.timeLimit(.hang))
struct CoverageTests {
    @Test func eachTestThatThePageNamesIsThere() throws {
        let known = try TestNames.all()
        try #require(known.count > 500, "only \(known.count) tests were found")
        for row in try CoveragePage().rows {
            for name in row.tests where !known.contains(name) {
                Issue.record("docs/coverage.md:\(row.line): there is no test \(name)")
            }
        }
    }

    @Test func eachTestThatTheReliabilityPageNamesIsThere() throws {
        let known = try TestNames.all()
        let named = try CoveragePage("docs/reliability.md").rows.flatMap(\.tests)
        #expect(named.count > 25)
        for name in named where !known.contains(name) { Issue.record("docs/reliability.md: there is no test \(name)") }
    }

    @Test func eachRowNamesATestAndEachSectionHasRows() throws {
        let page = try CoveragePage()
        for row in page.rows {
            #expect(!row.tests.isEmpty, "docs/coverage.md:\(row.line): no test is named")
            #expect(row.strangers.isEmpty, "docs/coverage.md:\(row.line): \(row.strangers) isn't SuiteTests/testName")
        }
        #expect(page.rows.count > 200, "only \(page.rows.count) rows were found")
        for number in 1...13 {
            #expect(page.rows(of: "\(number).").count >= 8, "section \(number) has few rows")
        }
        #expect(page.rows(of: "Ideas").count >= 15 && page.rows(of: "The manifest").count >= 40)
    }

    @Test func eachErrorCodeHasARow() throws {
        let source = try Repository.text("Sources/Core/Wire/Errors/BusError.swift")
        let codes = source.matches(of: /= ErrorCode\("([a-z-]+)"\)/).map { String($0.1) }
        try #require(codes.count >= 30, "only \(codes) were found")
        let named = try CoveragePage().rows(of: "12.").flatMap(\.subjects)
        for code in codes { #expect(named.contains(code), "docs/coverage.md, section 12, lacks \(code)") }
    }

    @Test func eachLimitHasARow() throws {
        let limits = Mirror(reflecting: AppTable.Limits()).children.compactMap(\.label)
        try #require(limits.count >= 14)
        let named = try CoveragePage().rows(of: "13.").flatMap(\.subjects)
        for limit in limits { #expect(named.contains(limit), "docs/coverage.md, section 13, lacks \(limit)") }
    }
}
