import Glibc
import Testing

/// Pages show code that tests compile and run.
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

    @Test(arguments: [
        ("docs/testing.md", "Tests/BusTests/Harness/ThermostatTests.swift"),
        ("docs/simulation.md", "Tests/Simulated/SeatsModule.swift"),
    ])
    func aPageShowsWhatIsTested(_ page: String, _ file: String) throws {
        let root = "\(#filePath)".split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
            separator: "/")
        let tested = try lines(of: "\(root)/\(file)")
        var shown: [String] = []
        var isCode = false
        for line in try lines(of: "\(root)/\(page)") {
            if line.hasPrefix("```") {
                isCode = line == "```swift"
            } else if isCode {
                shown.append(line)
            }
        }
        #expect(shown.count > 10)
        for line in shown { #expect(tested.contains(line), "not in \(file): \(line)") }
    }
}
