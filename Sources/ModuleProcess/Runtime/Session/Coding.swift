internal import FoundationEssentials
internal import StrataCore

/// The one encoder and decoder of the module, reused: making them anew costs
/// more than a small message does.
@ModuleActor
enum Coding {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        // Without it the order differs from process to process.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }()
    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }()

    static func encode(_ value: some Encodable) throws -> Data {
        if value is Nothing { return Data("{}".utf8) }
        return try encoder.encode(value)
    }

    /// Reads a body; no bytes are null, which is as good as `{}` for a type
    /// whose members may all be missing.
    static func decode<Value: Decodable>(_ type: Value.Type, _ body: UnsafeRawBufferPointer) throws -> Value {
        guard let base = body.baseAddress, body.count > 0, !body.equals("null") else { return try decodeNull(type) }
        // The data doesn't outlive the call, and the decoder keeps none of it.
        let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: body.count, deallocator: .none)
        return try decoder.decode(type, from: data)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws -> Value {
        try body.withUnsafeBytes { try decode(type, $0) }
    }

    private static func decodeNull<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try decoder.decode(type, from: Data("{}".utf8))
        } catch {
            if let value = try? decoder.decode(type, from: Data("null".utf8)) { return value }
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
