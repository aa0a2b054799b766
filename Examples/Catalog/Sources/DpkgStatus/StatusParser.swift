public import StorageInterface

/// Reads dpkg's status file, in any pieces: paragraphs of `Field: value` lines,
/// an empty line between them, as Debian's policy has it (chapter 5).
///
/// Whatever a line holds, parsing goes on: what is no field is passed over, and
/// bytes that are no UTF-8 are replaced.
public struct StatusParser: Sendable {
    /// Bytes of one line; what is longer is cut off.
    static let longestLine = 256 << 10
    /// Bytes of one description; lines beyond are left out.
    static let longestDescription = 32 << 10

    /// The line that isn't complete yet.
    private var line: [UInt8] = []
    private var paragraph = Paragraph()
    private var names: Set<String> = []

    public init() {}

    /// Takes the file's next bytes, and gives the installed packages that they
    /// complete.
    public mutating func parse(_ bytes: UnsafeRawBufferPointer) -> [Package] {
        var packages: [Package] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            rest = rest[(end + 1)...]
            if let package = takeLine() { packages.append(package) }
        }
        append(rest)
        return packages
    }

    /// The file has ended: gives the package that no empty line followed.
    public mutating func finish() -> Package? {
        if !line.isEmpty, let package = takeLine() { return package }
        return takeParagraph()
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) {
        line.append(contentsOf: bytes.prefix(Self.longestLine - line.count))
    }

    private mutating func takeLine() -> Package? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else {
            return takeParagraph()
        }
        paragraph.add(line)
        return nil
    }

    private mutating func takeParagraph() -> Package? {
        defer { paragraph = Paragraph() }
        guard var package = paragraph.package else { return nil }
        // Of one package several architectures can be installed: dpkg itself
        // tells them apart so.
        if names.contains(package.name) { package.name += ":\(package.architecture)" }
        guard names.insert(package.name).inserted else { return nil }
        return package
    }
}
