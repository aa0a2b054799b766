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
