public import StrataCore

extension Exports {
    /// Exports an action that replies with a sequence. Each element is sent as soon as the caller
    /// has given credit for it; at most one element is made ahead.
    ///
    /// The sequence's task is cancelled if the caller gives up.
    public mutating func stream<A: StreamingAction, Elements: AsyncSequence>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Elements
    ) where Elements.Element == A.Element {
        add(A.name, of: A.self, auth: auth, isStream: true) { call, header, body in
            call.stream(A.self, header, body, perform)
        }
    }

    /// Exports an action that replies with a sequence whose elements are there at once, such as an array.
    public mutating func stream<A: StreamingAction, Elements: Sequence>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Elements
    ) where Elements.Element == A.Element {
        stream(type, auth: auth) { PresentElements(base: try await perform($0)) }
    }

    /// Exports an action that replies with what is sent to a topic, from the call on.
    /// - Parameters:
    ///   - type: The action's contract.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - topic: Where the elements come from. The runtime ends it with `replaced` when another process
    ///     takes over, after `Module.retiring`.
    ///   - start: Returns the elements that a caller gets first, such as the present state. What is sent
    ///     to the topic after that follows them, and nothing falls between.
    ///   - isWanted: Whether a caller gets an element of the topic; true by default. It may be called more
    ///     than once for an element.
    public mutating func stream<A: StreamingAction>(
        _ type: A.Type, auth: Bool = false, from topic: Topic<A.Element>,
        startingWith start: @escaping @ModuleActor (A) throws -> [A.Element] = { _ in [] },
        where isWanted: (@ModuleActor (A, A.Element) -> Bool)? = nil
    ) {
        add(topic)
        add(A.name, of: A.self, auth: auth, isStream: true) { call, header, body in
            let request: A
            do { request = try call.params(A.self, header, body) } catch {
                call.fail(error)
                return
            }
            call.send(
                topic, startingWith: { try start(request) }, where: isWanted.map { wants in { wants(request, $0) } })
        }
    }

    /// Exports a stream without a contract.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func stream<Elements: AsyncSequence>(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> Elements
    ) where Elements.Element == JSON {
        add(ActionName(splitting: destination), auth: auth, isStream: true) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in try await call.send(try await perform(request)) { $0.encoded() } }
        }
    }

    /// Exports a stream without a contract, of elements that are there at once.
    public mutating func stream<Elements: Sequence>(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> Elements
    ) where Elements.Element == JSON {
        stream(destination, auth: auth) { PresentElements(base: try await perform($0)) }
    }

    /// Exports a stream without a contract, of what is sent to a topic.
    public mutating func stream(
        _ destination: String, auth: Bool = false, from topic: Topic<JSON>,
        startingWith start: @escaping @ModuleActor (Call) throws -> [JSON] = { _ in [] },
        where isWanted: (@ModuleActor (Call, JSON) -> Bool)? = nil
    ) {
        add(topic)
        add(ActionName(splitting: destination), auth: auth, isStream: true) { call, header, body in
            let request = Call(header, body, call)
            call.send(
                topic, startingWith: { try start(request) }, where: isWanted.map { wants in { wants(request, $0) } })
        }
    }

    /// Maps a URL to a stream of this module. `Bus.openStream` reads it.
    public mutating func url<A: StreamingAction>(_ host: String, _ pattern: String, to action: A.Type) {
        url(host, pattern, to: A.name.destination)
    }

    @available(*, unavailable, message: "a stream: use exports.stream")
    public mutating func action<A: StreamingAction, Elements>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Elements
    ) {}

    @available(*, unavailable, message: "one reply: use exports.action")
    public mutating func stream<A: Action, Reply>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Reply
    ) {}
}

extension IncomingCall {
    /// Decodes typed parameters at once, and answers with the sequence that a handler makes from
    /// them.
    func stream<A: StreamingAction, Elements: AsyncSequence>(
        _ type: A.Type, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        _ perform: @escaping @ModuleActor (A) async throws -> Elements
    ) where Elements.Element == A.Element {
        let request: A
        do { request = try params(A.self, header, body) } catch {
            fail(error)
            return
        }
        run { call in try await call.send(try await perform(request)) { try Coding.encode($0) } }
    }

    /// Sends each element of a sequence as a partial reply, and the final reply at its end.
    func send<Elements: AsyncSequence>(
        _ elements: Elements, encode: @ModuleActor (Elements.Element) throws -> [UInt8]
    ) async throws {
        var iterator = elements.makeAsyncIterator()
        // Fetch the next element before there is credit for it: the end needs no credit, so it can
        // be sent without waiting.
        while let element = try await iterator.next(isolation: ModuleActor.shared) {
            try await waitForCredit()
            try encode(element).withUnsafeBytes { try send(partial: $0) }
        }
        // A sequence that stops because its task is cancelled has not reached its end.
        try Task.checkCancellation()
        reply()
    }

    /// Sends each element of a topic, from now on. It begins to read at once, so that the first elements
    /// are of the same moment.
    func send<Element: Encodable>(
        _ topic: Topic<Element>, startingWith start: () throws -> [Element], where isWanted: ((Element) -> Bool)?
    ) {
        let first: [Element]
        do { first = try start() } catch {
            fail(error)
            return
        }
        let reader = topic.read(for: name, where: isWanted) { [weak self] in self?.stop($0) }
        run { call in
            defer { topic.leave(reader) }
            for element in first {
                try await call.waitForCredit()
                try Coding.encode(element).withUnsafeBytes { try call.send(partial: $0) }
            }
            while let (element, missed) = try await reader.next() {
                try await call.waitForCredit()
                try Coding.encode(element).withUnsafeBytes { try call.send(partial: $0, missed: missed) }
            }
            try Task.checkCancellation()
            call.reply()
        }
    }
}

/// A sequence as an asynchronous one, whose elements are there at once.
struct PresentElements<Base: Sequence>: AsyncSequence {
    let base: Base

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.Iterator
        private var count = 0

        init(base: Base.Iterator) { self.base = base }

        mutating func next() async -> Base.Element? { await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async -> Base.Element? {
            count += 1
            // So that a caller with much credit doesn't hold the module's other work up.
            if count.isMultiple(of: 64) { await Task.yield() }
            return base.next()
        }
    }
}
