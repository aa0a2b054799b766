public import StrataCore

extension Exports {
    /// Exports an action that answers with a sequence: each element is sent as
    /// soon as the caller takes one more, and at most one is made before.
    ///
    /// The sequence's task is cancelled where the caller gives up.
    public mutating func stream<A: StreamingAction, Elements: AsyncSequence>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Elements
    ) where Elements.Element == A.Element {
        add(A.name, auth: auth) { call, header, body in
            call.stream(A.self, header, body, perform)
        }
    }

    /// Exports a stream without a contract.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: whether the app's authorizer is asked.
    ///   - perform: what answers.
    public mutating func stream<Elements: AsyncSequence>(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> Elements
    ) where Elements.Element == JSON {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in try await call.send(try await perform(request)) { $0.encoded() } }
        }
    }
}

extension IncomingCall {
    /// Reads typed parameters at once, and answers with the sequence that a
    /// handler makes of them.
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

    /// Sends a sequence as partial replies, and the final one at its end.
    func send<Elements: AsyncSequence>(
        _ elements: Elements, encode: @ModuleActor (Elements.Element) throws -> [UInt8]
    ) async throws {
        var iterator = elements.makeAsyncIterator()
        // The next element is fetched before there is credit for it: the end,
        // which costs none, is told without waiting.
        while let element = try await iterator.next(isolation: ModuleActor.shared) {
            try await waitForCredit()
            try encode(element).withUnsafeBytes { try send(partial: $0) }
        }
        // A sequence that ends because its task is cancelled has not ended.
        try Task.checkCancellation()
        reply()
    }
}
