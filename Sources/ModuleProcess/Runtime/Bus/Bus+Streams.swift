public import StrataCore

extension Bus {
    /// Calls an action that replies in parts.
    ///
    /// The callee sends no more elements than the caller takes. Dropping the sequence ends the
    /// stream at the callee, too.
    /// - Parameters:
    ///   - action: The action's parameters.
    ///   - deadline: The time for each step; none by default.
    ///   - auth: `skip` is for modules that the app's manifest trusts.
    ///   - meta: An object for the callee. `call` describes its limits.
    public func stream<A: StreamingAction>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, meta: JSON? = nil
    ) throws -> ReplyStream<A.Element> {
        try stream(action, .stream(A.name.destination, deadline: deadline, auth: auth).with(meta: meta))
    }

    func stream<A: StreamingAction>(_ action: A, _ outgoing: Outgoing, of instance: Instance? = nil) throws
        -> ReplyStream<A.Element>
    {
        let source = try runtime.stream(outgoing, try encode(action, for: outgoing), of: instance)
        return ReplyStream(source) { bytes in try self.decode(A.Element.self, bytes, from: outgoing) }
    }

    /// Calls a stream without a contract.
    public func stream(
        _ destination: String, _ params: JSON = nil, deadline: Duration? = nil, auth: Authorization = .asked,
        meta: JSON? = nil
    ) throws -> ReplyStream<JSON> {
        try stream(params, .stream(destination, deadline: deadline, auth: auth).with(meta: meta))
    }

    func stream(_ params: JSON, _ outgoing: Outgoing, of instance: Instance? = nil) throws -> ReplyStream<JSON> {
        let source = try runtime.stream(outgoing, Body(params), of: instance)
        return ReplyStream(source) { bytes in try self.json(bytes, from: outgoing) }
    }
}

/// The partial replies of one call, in order, for one reader.
public struct ReplyStream<Element: Sendable>: AsyncSequence, Sendable {
    private let source: StreamSource
    private let decode: @ModuleActor @Sendable ([UInt8]) throws -> Element

    init(_ source: StreamSource, decode: @escaping @ModuleActor @Sendable ([UInt8]) throws -> Element) {
        self.source = source
        self.decode = decode
    }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source, decode: decode) }

    /// An iterator over the partial replies. The call is given up when the sequence and its
    /// iterators have been released.
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

/// Ends the call when the last reference to its stream is released.
final class StreamSource: Sendable {
    let buffer: ReplyBuffer
    /// The instance that the stream belongs to, kept alive as long as the stream.
    private let instance: Instance?

    init(_ buffer: ReplyBuffer, of instance: Instance?) {
        self.buffer = buffer
        self.instance = instance
    }

    deinit {
        let buffer = buffer
        onModuleActor { buffer.cancel() }
    }
}
