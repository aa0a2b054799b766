import StrataCore

/// A frame that the client sent.
struct ProbeFrame {
    let headerBytes: [UInt8]
    let header: JSON
    let body: [UInt8]

    var kind: String { header["kind"]?.string ?? "" }
    /// The id; 0 if there is none.
    var id: Int64 { header["id"]?.integer ?? 0 }
    var to: String { header["to"]?.string ?? "" }
    var code: String { header["code"]?.string ?? "" }
    var isPartial: Bool { header["more"]?.bool == true }

    /// The body as JSON; null if it is empty.
    var json: JSON { body.isEmpty ? .null : (try? JSON(parsing: body, maximumDepth: 512)) ?? .null }

    /// Returns a frame's bytes.
    static func bytes(_ header: [UInt8], _ body: [UInt8] = []) -> [UInt8] {
        lengths(frame: UInt32(4 + header.count + body.count), header: UInt32(header.count)) + header + body
    }

    /// Returns a frame's first eight bytes, which may lie.
    static func lengths(frame: UInt32, header: UInt32) -> [UInt8] {
        [frame, header].flatMap { number in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    }

    /// Returns a header and a body as a line for people.
    static func shown(_ header: [UInt8], _ body: [UInt8]) -> String {
        let text = body.isEmpty ? "" : "   " + cut(body)
        return Printable.line(cut(header) + text)
    }

    private static func cut(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(240), as: UTF8.self)
        return bytes.count > 240 ? "\(text)… (\(bytes.count) bytes)" : text
    }
}
