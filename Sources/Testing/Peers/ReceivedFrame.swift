public import StrataCore

/// A frame that came from the broker.
public struct ReceivedFrame: Sendable, CustomStringConvertible {
    /// The header's bytes, as they arrived.
    public let headerBytes: [UInt8]
    /// The header as JSON.
    public let header: JSON
    /// The body's bytes, as they arrived; empty if there is no body.
    public let body: [UInt8]
    /// The descriptors that came with it, which the test closes.
    public internal(set) var descriptors: [Int32] = []

    init(header: [UInt8], body: [UInt8]) throws {
        headerBytes = header
        self.body = body
        do { self.header = try JSON(parsing: header) } catch {
            throw TestFailure(
                "the broker sent a header that is not JSON (\(error)): \(String(decoding: header, as: UTF8.self))")
        }
    }

    /// Returns a member of the header.
    public subscript(_ name: String) -> JSON? { header[name] }

    /// The kind of the frame.
    public var kind: String { header["kind"]?.string ?? "" }
    /// The id; 0 if there is none.
    public var id: UInt64 { header["id"]?.integer.map { UInt64(clamping: $0) } ?? 0 }
    /// The receiver; empty if the header names none. The same holds for the texts below.
    public var to: String { header["to"]?.string ?? "" }
    /// The sender.
    public var from: String { header["from"]?.string ?? "" }
    /// The notification's or event's name.
    public var name: String { header["name"]?.string ?? "" }
    /// An error's code.
    public var code: String { header["code"]?.string ?? "" }
    /// An error's message.
    public var message: String { header["message"]?.string ?? "" }
    /// Whether the request ran, as an error reports it.
    public var ran: String { header["ran"]?.string ?? "" }
    /// Whether more frames follow for the same request.
    public var isPartial: Bool { header["more"]?.bool == true }

    /// The body as JSON: null for no body, and a string for a body that is not JSON.
    public var json: JSON {
        guard !body.isEmpty else { return .null }
        return (try? JSON(parsing: body)) ?? .string(String(decoding: body, as: UTF8.self))
    }

    /// Whether the frame has at least these members; see `JSON.matches`.
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
    /// Whether this value has everything that a pattern has. An object must have all members of
    /// the pattern, and may have more. Arrays must have the same length, and are compared element
    /// by element. Any other value must be equal.
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

    /// The value as bytes on the wire.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// Returns this object with further members after its own.
    func adding(_ further: JSON) -> JSON {
        .object((object ?? []) + (further.object ?? []))
    }
}

/// Frames as bytes, made without the code under test.
public enum FrameBytes {
    /// Returns a whole frame.
    public static func frame(_ header: [UInt8], body: [UInt8] = []) -> [UInt8] {
        lengths(frame: UInt32(4 + header.count + body.count), header: UInt32(header.count)) + header + body
    }

    /// Returns a whole frame, made from JSON values.
    public static func frame(_ header: JSON, body: JSON? = nil) -> [UInt8] {
        frame(header.bytes, body: body?.bytes ?? [])
    }

    /// Returns a frame's first eight bytes. The lengths may be wrong.
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
