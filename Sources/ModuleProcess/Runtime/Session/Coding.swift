internal import StrataCore
internal import StrataJSON

/// The module's only JSON writer and reader. Each keeps its memory from one message to the next.
///
/// Not isolated, so that a request begins and ends without a change of executor; what uses the two
/// checks that it is on the actor's thread.
enum Coding {
    private static var writer: JSONWriter { onThread(theWriter) }
    private static var reader: JSONReader { onThread(theReader) }

    // Unsafe only in name, because `onThread` is the only way to them.
    nonisolated(unsafe) private static let theWriter = JSONWriter()
    nonisolated(unsafe) private static let theReader = JSONReader()

    private static func onThread<Coder>(_ coder: Coder) -> Coder {
        precondition(ModuleExecutor.shared.isCurrent, "JSON is coded on the module's loop thread only")
        return coder
    }

    static func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        try writer.encode(value)
    }

    /// Calls `use` with the value's bytes, which are valid only during the call.
    static func withEncoded<Value: Encodable>(_ value: Value, _ use: (UnsafeRawBufferPointer) throws -> Void) throws {
        try writer.withEncoded(value, use)
    }

    /// Decodes a body. Empty bytes count as null, and null counts as `{}` for a type whose members
    /// are all optional.
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

    /// Decodes a value that stands alone, for which empty bytes are null.
    static func value<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) throws -> Value {
        try reader.decode(type, from: body.isEmpty ? Array("null".utf8) : body)
    }

    /// Decodes a request's parameters. A failure is `bad-params` and names the member.
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

    /// Returns the first member that the type can't be read without.
    private static func firstMember<Value: Decodable>(of type: Value.Type) -> String? {
        do {
            _ = try reader.decode(type, from: Array("{}".utf8))
        } catch DecodingError.keyNotFound(let key, let context) where context.codingPath.isEmpty {
            return key.stringValue
        } catch {}
        return nil
    }

    static func json(_ body: [UInt8]) throws -> JSON {
        body.isEmpty ? .null : try JSON(parsing: body)
    }
}

/// An outgoing body.
enum Body: Sendable {
    case none
    case bytes([UInt8])

    /// An empty body stands for null.
    init(_ json: JSON) { self = json == .null ? .none : .bytes(json.encoded()) }

    func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch self {
        case .none: return try body(.none)
        case .bytes(let bytes):
            return try bytes.withUnsafeBytes { raw in
                Swift.Result { () throws(Failure) in try body(raw) }
            }.get()
        }
    }
}

extension BusError {
    /// The longest message that is sent, in bytes: a header's size is limited.
    private static let longestMessage = 4096

    /// Creates the error that a caller receives for a handler's error.
    /// - Parameter handler: The handler's name; empty for a step of the life cycle, which the
    ///   broker names.
    init(answering error: any Error, of handler: String) {
        let who = handler.isEmpty ? "it" : handler
        switch error {
        case let error as ModuleError:
            self.init(error.code, error.message, ran: error.ran, body: error.body)
        case let error as BusError where error.code.rawValue.contains("."):
            // Another module's own error, which this module passes on.
            self.init(error.code, error.message, ran: .yes, body: error.body)
        case let error as BusError where error.code == .cancelled:
            self.init(.cancelled, error.message, ran: .yes)
        case let error as BusError:
            // Where the error began says more than what each module on its way said of it.
            let cause = error.root.map { "\($0)" } ?? "\(error)"
            self.init(.failed, "\(who) failed in a request of its own: \(cause)", ran: .yes)
        case let error as DecodingError:
            self.init(.failed, "\(who) read something that isn't as expected: \(error.sentence())", ran: .yes)
        case is CancellationError:
            self.init(.cancelled, "\(who) was cancelled", ran: .yes)
        default:
            self.init(.failed, handler.isEmpty ? "\(error)" : "\(handler) failed: \(error)", ran: .yes)
        }
        if message.utf8.count > Self.longestMessage {
            message = String(decoding: message.utf8.prefix(Self.longestMessage), as: UTF8.self) + " …"
        }
    }
}
