package import StrataCore

/// A frame that the client sent.
package struct ProbeFrame {
    package let headerBytes: [UInt8]
    package let header: JSON
    package let body: [UInt8]

    package var kind: String { header["kind"]?.string ?? "" }
    /// The id; 0 if there is none.
    package var id: Int64 { header["id"]?.integer ?? 0 }
    package var to: String { header["to"]?.string ?? "" }
    package var code: String { header["code"]?.string ?? "" }
    package var isPartial: Bool { header["more"]?.bool == true }

    /// The body as JSON; null if it is empty.
    package var json: JSON { body.isEmpty ? .null : (try? JSON(parsing: body, maximumDepth: 512)) ?? .null }

    /// Returns a frame's bytes.
    package static func bytes(_ header: [UInt8], _ body: [UInt8] = []) -> [UInt8] {
        lengths(frame: UInt32(4 + header.count + body.count), header: UInt32(header.count)) + header + body
    }

    /// Returns a frame's first eight bytes, which may lie.
    package static func lengths(frame: UInt32, header: UInt32) -> [UInt8] {
        [frame, header].flatMap { number in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    }

    /// Returns a header and a body as a line for people.
    package static func shown(_ header: [UInt8], _ body: [UInt8]) -> String {
        let text = body.isEmpty ? "" : "   " + cut(body)
        return Printable.line(cut(header) + text)
    }

    private static func cut(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(240), as: UTF8.self)
        return bytes.count > 240 ? "\(text)… (\(bytes.count) bytes)" : text
    }
}
