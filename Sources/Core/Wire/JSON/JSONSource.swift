/// A decoder that has the value as JSON's text, and needn't try one type after another.
package protocol JSONSource: Decoder {
    /// Returns the value.
    /// - Throws: `DecodingError` if a number is out of range.
    func json() throws -> JSON
}
