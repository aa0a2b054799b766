import Foundation
import TestSupport
import Testing

/// The targets of the pages' links exist.
@Suite(.timeLimit(.hang))
struct LinkTests {
    static let pages: [String] = {
        let examples = (try? Repository.entries("Examples")) ?? []
        let names = (try? Repository.entries("docs")) ?? []
        let top = (try? Repository.entries(".")) ?? []
        return top.filter { $0.hasSuffix(".md") } + examples.map { "Examples/\($0)/README.md" }
            + names.filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
    }()

    @Test(arguments: pages) func eachLinkLeadsToAFileAndItsHeading(_ page: String) throws {
        let text = try Repository.text(page)
        for match in text.matches(of: /\]\(([^)#\s]*)(#[^)\s]+)?\)/) {
            let (path, anchor) = (String(match.1), match.2.map { String($0.dropFirst()) })
            guard !path.contains("://") else { continue }
            let folder = page.split(separator: "/").dropLast().joined(separator: "/")
            let target = path.isEmpty ? page : Self.normal("\(folder)/\(path)")
            guard FileManager.default.fileExists(atPath: Repository.path(target)) else {
                Issue.record("\(page): there is no \(path)")
                continue
            }
            if let anchor, target.hasSuffix(".md"), try !Self.anchors(target).contains(anchor) {
                Issue.record("\(page): \(target) has no heading #\(anchor)")
            }
        }
    }

    @Test func theTopPagesAreLookedAt() {
        #expect(Set(Self.pages).isSuperset(of: ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]))
    }

    /// The manual page has the version of `strata --version`, which a separate test checks.
    @Test func theChangelogBeginsWithThisVersion() throws {
        let manual = try Repository.text("docs/man/strata.1")
        let version = try #require(manual.firstMatch(of: /"strata ([0-9.]+)"/)).1
        let newest = try Repository.lines("CHANGELOG.md").first { $0.hasPrefix("## ") }
        #expect(newest?.hasPrefix("## \(version) ") == true)
    }

    @Test func eachFileThatTheArchitectureNamesIsThere() throws {
        let files =
            FileManager.default.enumerator(atPath: Repository.path("Sources"))?.compactMap { $0 as? String } ?? []
        let named = try Repository.text("docs/architecture.md").matches(of: /[A-Za-z0-9_+\/-]+\.swift/)
            .map { String($0.0) }
        #expect(named.count > 25)
        for name in named where !files.contains(where: { $0 == name || $0.hasSuffix("/" + name) }) {
            // A name for several files, such as `Broker+….swift`, is not checked.
            if !name.hasPrefix(".") { Issue.record("docs/architecture.md: there is no \(name)") }
        }
    }

    /// Returns the path without `..` and empty parts.
    private static func normal(_ path: String) -> String {
        path.split(separator: "/").reduce(into: [Substring]()) { parts, part in
            if part == ".." { parts.removeLast() } else { parts.append(part) }
        }.joined(separator: "/")
    }

    /// Returns the anchors of a page's headings.
    private static func anchors(_ page: String) throws -> Set<String> {
        var isCode = false
        var anchors: Set<String> = []
        for line in try Repository.lines(page) {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, line.hasPrefix("#") else { continue }
            let title = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
            anchors.insert(
                String(title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" })
                    .replacingOccurrences(of: " ", with: "-"))
        }
        return anchors
    }
}
