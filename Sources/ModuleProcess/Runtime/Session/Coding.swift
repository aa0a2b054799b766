internal import StrataCore
internal import StrataJSON

/// The one writer and reader of the module, reused: each keeps its memory from
/// one message to the next.
@ModuleActor
enum Coding {
    private static let writer = JSONWriter()
    private static let reader = JSONReader()

    static func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        try writer.encode(value)
    }

    /// Hands over the value's bytes, which are gone when it returns.
    static func withEncoded<Value: Encodable>(_ value: Value, _ use: (UnsafeRawBufferPointer) throws -> Void) throws {
        try writer.withEncoded(value, use)
    }

    /// Reads a body; no bytes are null, which is as good as `{}` for a type
    /// whose members may all be missing.
    static func decode<Value: Decodable>(_ type: Value.Type, _ body: UnsafeRawBufferPointer) throws -> Value {
        guard body.count > 0, !body.equals("null") else { return try decodeNull(type) }
        return try reader.decode(type, from: body)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws -> Value {
        try body.withUnsafeBytes { try decode(type, $0) }
    }

    private static func decodeNull<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try reader.decode(type, from: Array("{}".utf8))
        } catch {
            if let value = try? reader.decode(type, from: Array("null".utf8)) { return value }
            throw error
        }
    }

    /// Reads a request's parameters; what they can't be read as is
    /// `bad-params`, naming the member.
    static func params<Value: Decodable>(_ type: Value.Type, _ body: UnsafeRawBufferPointer) throws(ModuleError)
        -> Value
    {
        do {
            return try decode(type, body)
        } catch let error as DecodingError {
            throw .badParams(error.sentence)
        } catch {
            throw .badParams("\(error)")
        }
    }

    nonisolated static func json(_ body: [UInt8]) throws -> JSON {
        body.isEmpty ? .null : try JSON(parsing: body)
    }
}

extension DecodingError {
    /// What is wrong, with the member that it is wrong about.
    var sentence: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\(Self.path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context):
            "\(Self.path(context.codingPath)) is null, and must not be"
        case .typeMismatch(let type, let context):
            "\(Self.path(context.codingPath)) is no \(type): \(context.debugDescription)"
        case .dataCorrupted(let context):
            "\(Self.path(context.codingPath)) can't be read: \(context.debugDescription)"
        @unknown default: "\(self)"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "the body" }
        var path = ""
        for key in keys {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return "`\(path)`"
    }
}
