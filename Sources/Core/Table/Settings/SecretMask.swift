/// Replaces a row's secrets in texts that come from its module, such as the lines that it writes.
///
/// A secret is found as it is, as JSON writes it, and by the single lines of a longer one. Shorter
/// secrets than `shortest` aren't looked for, because they stand in many texts by chance.
public struct SecretMask: Sendable {
    /// The bytes of the shortest text that is replaced; of one line of several, `shortestLine`.
    public static let shortest = 4
    static let shortestLine = 8

    /// The texts to replace by their first four bytes, longest first.
    private var texts: [UInt32: [[UInt8]]] = [:]

    public init(_ secrets: some Sequence<AppTable.Secret> = []) {
        for secret in secrets { add(secret.value) }
    }

    public var isEmpty: Bool { texts.isEmpty }

    private mutating func add(_ value: String) {
        add(Array(value.utf8), from: Self.shortest)
        var written: [UInt8] = []
        JSON.write(value, to: &written)
        add(Array(written.dropFirst().dropLast()), from: Self.shortest)
        let lines = value.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        if lines.count > 1 {
            for line in lines { add(Array(line), from: Self.shortestLine) }
        }
    }

    private mutating func add(_ text: [UInt8], from least: Int) {
        guard text.count >= least else { return }
        let start = text.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        var known = texts[start, default: []]
        guard !known.contains(text) else { return }
        known.insert(text, at: known.firstIndex { $0.count < text.count } ?? known.endIndex)
        texts[start] = known
    }

    /// Returns the text with `‹secret›` in place of each secret.
    public func masked(_ text: String) -> String {
        guard !isEmpty else { return text }
        return String(decoding: masked(Array(text.utf8)), as: UTF8.self)
    }

    /// Does the same for bytes, which needn't be UTF-8.
    public func masked(_ bytes: [UInt8]) -> [UInt8] {
        guard !isEmpty, bytes.count >= Self.shortest else { return bytes }
        var result: [UInt8] = []
        /// Where the bytes begin that aren't in the result yet.
        var kept = 0
        var position = 0
        while position + Self.shortest <= bytes.count {
            guard let length = length(at: position, of: bytes) else {
                position += 1
                continue
            }
            result += bytes[kept..<position]
            result += AppTable.Secret.hidden.utf8
            position += length
            kept = position
        }
        return kept == 0 ? bytes : result + bytes[kept...]
    }

    /// Returns the length of the longest secret at a position; nil if none stands there.
    private func length(at position: Int, of bytes: [UInt8]) -> Int? {
        let start = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: UInt32.self) }
        return texts[start]?.first { bytes[position...].starts(with: $0) }?.count
    }
}
