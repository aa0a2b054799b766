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
            throw .badParams(error.wantsObject ? error.sentence(naming: firstMember(of: type)) : error.sentence())
        } catch {
            throw .badParams("\(error)")
        }
    }

    /// The first member that a type can't be read without.
    private static func firstMember<Value: Decodable>(of type: Value.Type) -> String? {
        do {
            _ = try reader.decode(type, from: Array("{}".utf8))
        } catch DecodingError.keyNotFound(let key, let context) where context.codingPath.isEmpty {
            return key.stringValue
        } catch {}
        return nil
    }

    nonisolated static func json(_ body: [UInt8]) throws -> JSON {
        body.isEmpty ? .null : try JSON(parsing: body)
    }
}
