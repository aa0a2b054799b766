public import StrataCore

/// A frame that came from the broker.
public struct ReceivedFrame: Sendable, CustomStringConvertible {
    /// The header's bytes as they came.
    public let headerBytes: [UInt8]
    /// The header as JSON.
    public let header: JSON
    /// The body's bytes as they came; none is null.
    public let body: [UInt8]

    init(header: [UInt8], body: [UInt8]) throws {
        headerBytes = header
        self.body = body
        do { self.header = try JSON(parsing: header) } catch {
            throw TestFailure(
                "the broker sent a header that is not JSON (\(error)): \(String(decoding: header, as: UTF8.self))")
        }
    }

    /// A header's member.
    public subscript(_ name: String) -> JSON? { header[name] }

    /// What kind of frame it is.
    public var kind: String { header["kind"]?.string ?? "" }
    /// 0 where there is none.
    public var id: UInt64 { header["id"]?.integer.map { UInt64(clamping: $0) } ?? 0 }
    /// Where it was sent; empty where the header doesn't say, as are the others.
    public var to: String { header["to"]?.string ?? "" }
    /// Who sent it.
    public var from: String { header["from"]?.string ?? "" }
    /// The notification's or event's name.
    public var name: String { header["name"]?.string ?? "" }
    /// The error's code.
    public var code: String { header["code"]?.string ?? "" }
    /// The error's message.
    public var message: String { header["message"]?.string ?? "" }
    /// What an error says of its having been done.
    public var ran: String { header["ran"]?.string ?? "" }
    /// Whether others follow for the same request.
    public var isPartial: Bool { header["more"]?.bool == true }

    /// The body as JSON: null for none, and a text for what is no JSON.
    public var json: JSON {
        guard !body.isEmpty else { return .null }
        return (try? JSON(parsing: body)) ?? .string(String(decoding: body, as: UTF8.self))
    }

    /// Whether it has at least these members; see `JSON.matches`.
    public func matches(_ header: JSON, body: JSON? = nil) -> Bool {
        guard self.header.matches(header) else { return false }
        guard let body else { return true }
        return json.matches(body)
    }

    public var description: String {
        let header = String(decoding: headerBytes, as: UTF8.self)
        guard !body.isEmpty else { return header }
        let shown = String(decoding: body.prefix(300), as: UTF8.self)
        return "\(header) + \(shown)\(body.count > 300 ? "… (\(body.count) bytes)" : "")"
    }
}

extension JSON {
    /// Whether this has everything that a pattern has: an object all its
    /// members, whatever else it holds; any other value must be equal. Arrays
    /// are compared element by element, and have the same length.
    public func matches(_ pattern: JSON) -> Bool {
        switch (self, pattern) {
        case (.object(let members), .object(let wanted)):
            wanted.allSatisfy { want in
                members.first { $0.name == want.name }?.value.matches(want.value) ?? false
            }
        case (.array(let elements), .array(let wanted)):
            elements.count == wanted.count && zip(elements, wanted).allSatisfy { $0.matches($1) }
        case (.integer(let one), .number(let other)), (.number(let other), .integer(let one)):
            Double(one) == other
        default: self == pattern
        }
    }

    /// As bytes on the wire.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// This object with further members behind its own.
    func adding(_ further: JSON) -> JSON {
        .object((object ?? []) + (further.object ?? []))
    }
}

/// Frames as bytes, made without the code under test.
public enum FrameBytes {
    /// A whole frame.
    public static func frame(_ header: [UInt8], body: [UInt8] = []) -> [UInt8] {
        lengths(frame: UInt32(4 + header.count + body.count), header: UInt32(header.count)) + header + body
    }

    /// A whole frame, of values.
    public static func frame(_ header: JSON, body: JSON? = nil) -> [UInt8] {
        frame(header.bytes, body: body?.bytes ?? [])
    }

    /// A frame's first eight bytes, true or not.
    public static func lengths(frame: UInt32, header: UInt32) -> [UInt8] {
        bigEndian(frame) + bigEndian(header)
    }

    static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func integer(_ bytes: [UInt8], at offset: Int) -> Int {
        Int(bytes[offset]) << 24 | Int(bytes[offset + 1]) << 16 | Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
    }
}
