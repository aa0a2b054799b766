import Glibc
import Testing

/// docs/testing.md shows code that these tests compile and run.
@Suite(.timeLimit(.hang))
struct GuideTests {
    private func lines(of path: String) throws -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0, "\(path) can't be read")
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(descriptor, &piece, piece.count), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: true)
            .map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    }

    @Test func theGuideShowsWhatIsTested() throws {
        let root = "\(#filePath)".split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
            separator: "/")
        let tested = try lines(of: "\(root)/Tests/BusTests/Harness/ThermostatTests.swift")
        var shown: [String] = []
        var isCode = false
        for line in try lines(of: "\(root)/docs/testing.md") {
            if line.hasPrefix("```") {
                isCode = line == "```swift"
            } else if isCode {
                shown.append(line)
            }
        }
        #expect(shown.count > 10)
        for line in shown { #expect(tested.contains(line), "not in ThermostatTests: \(line)") }
    }
}
