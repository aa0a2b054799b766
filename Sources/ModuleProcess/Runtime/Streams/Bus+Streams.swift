public import StrataCore

extension Bus {
    /// Calls an action that replies in parts.
    ///
    /// The callee sends no more elements than the caller takes. Dropping the sequence ends the
    /// stream at the callee, too.
    /// - Parameters:
    ///   - action: The action's parameters.
    ///   - deadline: The time for each step; none by default.
    ///   - credit: How many elements may come before they are taken, 1 or more.
    ///   - auth: `skip` is for modules that the app's manifest trusts.
    ///   - key: What chooses a replica, as for `call`.
    ///   - meta: An object for the callee. `call` describes its limits.
    public func stream<A: StreamingAction>(
        _ action: A, deadline: Duration? = nil, credit: Int = ReplyStream<A.Element>.defaultCredit,
        auth: Authorization = .asked, key: String? = nil, meta: JSON? = nil
    ) throws -> ReplyStream<A.Element> {
        let outgoing = Outgoing.stream(A.name.destination, deadline: deadline, credit: credit, auth: auth)
        return try stream(action, outgoing.with(key: key, meta: meta))
    }

    func stream<A: StreamingAction>(_ action: A, _ outgoing: Outgoing, of instance: Instance? = nil) throws
        -> ReplyStream<A.Element>
    {
        let source = try runtime.stream(outgoing, try encode(action, for: outgoing), of: instance)
        return ReplyStream(source) { bytes in try self.decode(A.Element.self, bytes, from: outgoing) }
    }

    /// Calls a stream without a contract.
    public func stream(
        _ destination: String, _ params: JSON = nil, deadline: Duration? = nil,
        credit: Int = ReplyStream<JSON>.defaultCredit, auth: Authorization = .asked, key: String? = nil,
        meta: JSON? = nil
    ) throws -> ReplyStream<JSON> {
        let outgoing = Outgoing.stream(destination, deadline: deadline, credit: credit, auth: auth)
        return try stream(params, outgoing.with(key: key, meta: meta))
    }

    func stream(_ params: JSON, _ outgoing: Outgoing, of instance: Instance? = nil) throws -> ReplyStream<JSON> {
        let source = try runtime.stream(outgoing, Body(params), of: instance)
        return ReplyStream(source) { bytes in try self.json(bytes, from: outgoing) }
    }

    /// Opens a URL whose action replies in parts of the given type.
    public func openStream<Element: Decodable & Sendable>(
        _ url: String, as type: Element.Type, deadline: Duration? = nil,
        credit: Int = ReplyStream<Element>.defaultCredit, meta: JSON? = nil
    ) throws -> ReplyStream<Element> {
        let outgoing = try Outgoing.open(url, deadline: deadline).inParts(credit).with(meta: meta)
        let source = try runtime.stream(outgoing, .none, of: nil)
        return ReplyStream(source) { bytes in try self.decode(type, bytes, from: outgoing) }
    }

    /// Opens a URL whose action replies in parts.
    public func openStream(
        _ url: String, deadline: Duration? = nil, credit: Int = ReplyStream<JSON>.defaultCredit, meta: JSON? = nil
    ) throws -> ReplyStream<JSON> {
        let outgoing = try Outgoing.open(url, deadline: deadline).inParts(credit).with(meta: meta)
        return try stream(nil, outgoing)
    }

    @available(*, unavailable, message: "a stream: use bus.stream or bus.follow")
    public func call<A: StreamingAction>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, meta: JSON? = nil
    ) async throws -> A.Element { throw CancellationError() }

    @available(*, unavailable, message: "one reply: use bus.call")
    public func stream<A: Action>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, meta: JSON? = nil
    ) throws -> ReplyStream<A.Reply> { throw CancellationError() }
}

/// The partial replies of one call, in order, for one reader.
public struct ReplyStream<Element: Sendable>: AsyncSequence, Sendable {
    /// How many elements may come before they are taken, unless the reader says otherwise.
    public static var defaultCredit: Int { 16 }

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
        /// The number of elements that the provider left out before the last one, because this reader
        /// was slow.
        public private(set) var missed = 0

        public mutating func next() async throws -> Element? { try await next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            guard let (element, missed) = try await Self.next(source, decode) else { return nil }
            self.missed = missed
            return element
        }

        @ModuleActor
        private static func next(
            _ source: StreamSource, _ decode: @ModuleActor @Sendable ([UInt8]) throws -> Element
        ) async throws -> (Element, missed: Int)? {
            guard let part = try await source.buffer.next() else { return nil }
            return (try decode(part.body), part.missed)
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
