import StrataTesting
import TestSupport
import Testing

@testable import StrataCore

/// The part that the tests of both fast paths share.
enum HeaderMangling {
    typealias Scan = (HeaderScanner, UnsafeRawBufferPointer, inout Header) throws -> Void

    /// Returns each member of a header, as text.
    static func all(_ header: borrowing Header) -> [String] {
        [
            "\(header.members.rawValue) \(header.kind) \(header.id) \(header.deadline) \(header.parent)",
            "\(header.credit) \(header.subscription) \(header.missed) \(header.more) \(header.ran)",
            header.to.text, header.name.text, header.object.text, header.url.text, header.from.text, header.level.text,
            header.code.text, header.message.text, header.unknownKind.text, header.trace.text, header.meta.text,
        ]
    }

    /// Returns what a scan made of a header, or its error.
    static func outcome(_ bytes: [UInt8], slack: [UInt8], _ scan: Scan) -> [String] {
        let scanner = HeaderScanner()
        let space = bytes + slack
        // Because texts of a header may lie in the scanner.
        return withExtendedLifetime(scanner) {
            space.withUnsafeBytes { space in
                var header = Header()
                do { try scan(scanner, UnsafeRawBufferPointer(rebasing: space[..<bytes.count]), &header) } catch {
                    return ["\(error)"]
                }
                return all(header)
            }
        }
    }

    /// Whether a scan accepts a text that is followed by zeros.
    static func accepts(_ text: String, _ scan: (UnsafeRawBufferPointer, inout Header) -> Bool) -> Bool {
        let space = Array(text.utf8) + [UInt8](repeating: 0, count: ReadBuffer.slack)
        return space.withUnsafeBytes { space in
            var header = Header()
            return scan(UnsafeRawBufferPointer(rebasing: space[..<text.utf8.count]), &header)
        }
    }

    /// Compares a scan with the full one, over texts in which bytes are inserted, removed and
    /// changed.
    static func compare(_ scan: Scan, on texts: [String], seed: Int) {
        var generator = SeededGenerator(seed)
        let mangling = Array(#"{}[],:"\0123456789eE+-.tkidof ax"#.utf8) + [0, 0x1F, 0x80, 0xC3, 0xFF]
        for _ in 0..<2_000 {
            var bytes = Array((texts.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
                let place = bytes.indices.randomElement(using: &generator) ?? 0
                let byte = mangling.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                case 2: bytes.removeLast(bytes.count - place)
                default: bytes.remove(at: place)
                }
            }
            // The bytes after a header may look like its rest.
            let slack = (0..<ReadBuffer.slack).map { _ in mangling.randomElement(using: &generator) ?? 0 }
            let short = outcome(bytes, slack: slack, scan)
            let full = outcome(bytes, slack: slack) { try $0.scanFully($1, into: &$2) }
            #expect(short == full, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
