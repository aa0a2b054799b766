public import StrataCore

extension Bus {
    /// Calls an action that answers bit by bit. The callee makes no more than
    /// is taken here; giving up the sequence ends it there too.
    /// - Parameter deadline: for each step; where it isn't said, none.
    public func stream<A: StreamingAction>(_ action: A, deadline: Duration? = nil) throws -> ReplyStream<A.Element> {
        let outgoing = streaming(A.name.destination, deadline)
        let source = try runtime.stream(outgoing, try encode(action, for: outgoing))
        return ReplyStream(source) { bytes in try self.decode(A.Element.self, bytes, from: outgoing) }
    }

    /// Calls a stream without a contract.
    public func stream(_ destination: String, _ params: JSON = nil, deadline: Duration? = nil) throws
        -> ReplyStream<JSON>
    {
        let outgoing = streaming(destination, deadline)
        let source = try runtime.stream(outgoing, params == .null ? .none : .bytes(params.encoded()))
        return ReplyStream(source) { try Coding.json($0) }
    }

    private func streaming(_ destination: String, _ deadline: Duration?) -> Outgoing {
        var outgoing = Outgoing.call(destination, deadline: deadline)
        if outgoing.deadline == nil { outgoing.deadline = 0 }
        outgoing.credit = UInt64(ReplyBuffer.window)
        return outgoing
    }
}

/// The partial replies of one call, in order; for one reader.
public struct ReplyStream<Element: Sendable>: AsyncSequence, Sendable {
    private let source: StreamSource
    private let decode: @ModuleActor @Sendable ([UInt8]) throws -> Element

    init(_ source: StreamSource, decode: @escaping @ModuleActor @Sendable ([UInt8]) throws -> Element) {
        self.source = source
        self.decode = decode
    }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source, decode: decode) }

    public struct Iterator: AsyncIteratorProtocol {
        let source: StreamSource
        let decode: @ModuleActor @Sendable ([UInt8]) throws -> Element

        public mutating func next() async throws -> Element? { try await next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await Self.next(source, decode)
        }

        @ModuleActor
        private static func next(
            _ source: StreamSource, _ decode: @ModuleActor @Sendable ([UInt8]) throws -> Element
        ) async throws -> Element? {
            guard let bytes = try await source.buffer.next() else { return nil }
            return try decode(bytes)
        }
    }
}

/// Ends the call once nobody holds its stream any more.
final class StreamSource: Sendable {
    let buffer: ReplyBuffer

    init(_ buffer: ReplyBuffer) { self.buffer = buffer }

    deinit {
        let buffer = buffer
        onModuleActor { buffer.cancel() }
    }
}
