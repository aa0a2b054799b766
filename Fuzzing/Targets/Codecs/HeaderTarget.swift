import StrataCore

/// The header scanner. Its fast paths must agree with its full scan. The full scan must agree
/// with sections 2 and 3 of the protocol, applied to the text as JSON. A header that is written
/// out must be scanned as that header.
enum HeaderTarget {
    typealias Scan = (HeaderScanner, UnsafeRawBufferPointer, inout Header) throws(HeaderError) -> Void

    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        // The bytes after a header may look like its rest.
        let slack = input.choice(2) == 0 ? [] : Array(#"0,"credit":16}"}"#.utf8)
        let text = input.rest()
        let full = outcome(text, slack) { scanner, bytes, header throws(HeaderError) in
            try scanner.scanFully(bytes, into: &header)
        }
        let short = outcome(text, slack) { scanner, bytes, header throws(HeaderError) in
            try scanner.scan(bytes, into: &header)
        }
        try demand(short == full, "the short way says \(short), the full scan \(full)")
        let ofBroker = outcome(text, slack) { scanner, bytes, header throws(HeaderError) in
            try scanner.scanFromBroker(bytes, into: &header)
        }
        try demand(ofBroker == full, "the short way of clients says \(ofBroker), the full scan \(full)")
        try HeaderOracle.judge(text, full)
        guard case .success(let members) = full else { return }
        guard let written = members.written() else { return }
        let again = outcome(written, []) { scanner, bytes, header throws(HeaderError) in
            try scanner.scan(bytes, into: &header)
        }
        try demand(
            again == full, "\(String(decoding: written, as: UTF8.self)) was written, and scanned as \(again)")
    }

    /// Returns the header that a scan finds, or its error.
    private static func outcome(_ text: [UInt8], _ slack: [UInt8], _ scan: Scan) -> Result<HeaderMembers, HeaderError> {
        var space = text + slack
        space += [UInt8](repeating: 0, count: max(0, ReadBuffer.slack - slack.count))
        let scanner = HeaderScanner()
        // Because the header's texts may lie in the scanner's memory.
        defer { withExtendedLifetime(scanner) {} }
        return space.withUnsafeBytes { space in
            var header = Header()
            do throws(HeaderError) {
                try scan(scanner, UnsafeRawBufferPointer(rebasing: space[..<text.count]), &header)
            } catch {
                return .failure(error)
            }
            return .success(HeaderMembers(header))
        }
    }
}
