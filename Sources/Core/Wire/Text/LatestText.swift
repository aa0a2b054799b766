/// The last of the texts that were made from bytes, for names that come several times in a row.
public struct LatestText {
    private var bytes: [UInt8] = []
    private var text = ""

    public init() {}

    /// Returns the text of UTF-8.
    public mutating func text(of bytes: UnsafeRawBufferPointer) -> String {
        if bytes.count == self.bytes.count, self.bytes.withUnsafeBytes({ JSONString.equal($0, bytes) }) { return text }
        self.bytes = Array(bytes)
        text = bytes.text
        return text
    }
}
