internal import Glibc

/// A Markdown page of documentation, and the samples in it: its fenced blocks.
///
/// A sample may be more than its language says, for example a whole file or a terminal session.
/// Then a comment stands before it, which readers of the page don't see:
///
///     <!-- sample: file Sources/Greeter/Greeter.swift -->
///
/// The text after `sample:` is the sample's marking. A sample marked `only shown` is neither run
/// nor compiled. A comment of several lines that begins with `<!-- sample: given` holds lines
/// that the next sample needs, and that the page doesn't show.
public struct Page: Sendable {
    /// The path of the page's file.
    public let path: String
    /// The fenced blocks of the page, in order.
    public let samples: [PageSample]

    /// Reads a page, or one section of it.
    /// - Parameters:
    ///   - path: the page's file.
    ///   - section: the text of a heading that begins with `## `. Only the samples below it count, up
    ///     to the next such heading. Nil means the whole page.
    /// - Throws: ``TestFailure`` if the page can't be read or has no such section, a block or a
    ///   comment has no end, or a marking has no block.
    public init(_ path: String, section: String? = nil) throws {
        self.path = path
        var reader = PageReader(path)
        var (isWanted, isThere, isInBlock) = (section == nil, section == nil, false)
        for (index, line) in try Self.lines(of: path).enumerated() {
            if line.hasPrefix("```") { isInBlock.toggle() }
            if let section, !isInBlock, line.hasPrefix("## ") {
                isWanted = line.dropFirst(3) == section
                isThere = isThere || isWanted
            }
            if isWanted { try reader.take(line, index + 1) }
        }
        guard isThere else { throw TestFailure("\(path) has no section \"\(section ?? "")\"") }
        samples = try reader.finish()
    }

    private static func lines(of path: String) throws -> [String] {
        guard let file = fopen(path, "r") else { throw TestFailure.system("read \(path)", errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }
}

/// Reads a page line by line.
private struct PageReader {
    private enum Place {
        case text
        case given
        case block
    }

    private let path: String
    private var place = Place.text
    private var samples: [PageSample] = []
    private var marking: (text: String, line: Int)?
    private var given: [String] = []
    private var language = ""
    private var lines: [String] = []
    /// The line on which the open block or comment began.
    private var begin = 0

    init(_ path: String) { self.path = path }

    mutating func take(_ line: String, _ number: Int) throws {
        switch place {
        case .text:
            if line.hasPrefix("```") {
                (place, begin, language, lines) = (.block, number, String(line.dropFirst(3)), [])
            } else if line == "<!-- sample: given" {
                (place, begin) = (.given, number)
            } else if line.hasPrefix("<!-- sample: "), line.hasSuffix(" -->") {
                marking = (String(line.dropFirst(13).dropLast(4)), number)
            } else if line.hasPrefix("<!-- sample:") {
                throw TestFailure("\(path):\(number): a marking is one line: <!-- sample: … -->")
            } else if let marking, !line.isEmpty {
                throw TestFailure("\(path):\(marking.line): no block follows this marking")
            }
        case .given:
            if line == "-->" { place = .text } else { given.append(line) }
        case .block where line == "```":
            samples.append(
                PageSample(
                    page: path, line: begin + 1, language: language, marking: marking?.text ?? "", given: given,
                    lines: lines))
            (place, marking, given) = (.text, nil, [])
        case .block:
            lines.append(line)
        }
    }

    func finish() throws -> [PageSample] {
        guard place == .text, marking == nil, given.isEmpty else {
            throw TestFailure(
                "\(path):\(marking?.line ?? begin): what begins here has no end, or is followed by no block")
        }
        return samples
    }
}

/// A fenced block of a ``Page``.
public struct PageSample: Sendable {
    /// The path of the page's file.
    public let page: String
    /// The number of its first line in the page.
    public let line: Int
    /// The language behind the fence, such as `swift`, `console` or `yaml`.
    public let language: String
    /// The marking in the comment before it; empty if there is none.
    public let marking: String
    /// The lines that the sample needs, and that the page doesn't show. For a `console` block
    /// they are a script.
    public let given: [String]
    /// The lines of the block, without the fences.
    public let lines: [String]

    /// The lines as the text of a file.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Whether it is neither run nor compiled.
    public var isOnlyShown: Bool { marking == "only shown" }

    /// Returns the rest of the marking after its first word, such as the path after `file`.
    /// Returns nil if the marking begins with another word.
    public func marked(_ word: String) -> String? {
        marking.hasPrefix(word + " ") ? String(marking.dropFirst(word.count + 1)) : nil
    }
}
