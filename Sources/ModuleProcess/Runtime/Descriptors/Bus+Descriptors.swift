public import StrataCore

extension Bus {
    /// Calls an action with descriptors, or one that may answer with some.
    ///
    /// Only for a module that says `Exports.usesDescriptors()`, or exports an action with some.
    /// - Parameters:
    ///   - action: The action's parameters.
    ///   - descriptors: At most 16, and as many as the action takes. The callee gets copies.
    ///   - deadline: As for a call without.
    ///   - auth: As for a call without.
    ///   - key: As for a call without.
    ///   - meta: As for a call without.
    /// - Returns: The reply, and the descriptors that came with it.
    /// - Throws: Also `bad-params` if the action takes fewer descriptors or runs on another node, and
    ///   `overloaded` if too many are in the bus.
    @discardableResult
    public func call<A: Action>(
        _ action: A, descriptors: [Descriptor], deadline: Duration? = nil, auth: Authorization = .asked,
        key: String? = nil, meta: JSON? = nil
    ) async throws -> WithDescriptors<A.Reply> {
        let outgoing = try Outgoing.call(A.name.destination, deadline: deadline, auth: auth).with(key: key, meta: meta)
        let (reply, came) = try await runtime.request(
            outgoing, try encode(action, for: outgoing), with: descriptors)
        return WithDescriptors(try decode(A.Reply.self, reply, from: outgoing), came)
    }

    /// Calls an action without a contract with descriptors, or one that may answer with some.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - params: The parameters to send.
    ///   - descriptors: At most 16, and as many as the action takes. The callee gets copies.
    ///   - deadline: As for a call without.
    ///   - auth: As for a call without.
    ///   - key: As for a call without.
    ///   - meta: As for a call without.
    /// - Returns: The reply, and the descriptors that came with it.
    @discardableResult
    public func call(
        _ destination: String, _ params: JSON = nil, descriptors: [Descriptor], deadline: Duration? = nil,
        auth: Authorization = .asked, key: String? = nil, meta: JSON? = nil
    ) async throws -> WithDescriptors<JSON> {
        let outgoing = try Outgoing.call(destination, deadline: deadline, auth: auth).with(key: key, meta: meta)
        let (reply, came) = try await runtime.request(outgoing, Body(params), with: descriptors)
        return WithDescriptors(try json(reply, from: outgoing), came)
    }
}

extension Exports {
    /// Declares that this module sends descriptors, or gets some with replies and reports.
    public mutating func usesDescriptors() { takesDescriptors = true }

    /// Exports an action whose calls or replies have descriptors.
    /// - Parameters:
    ///   - type: The action's contract.
    ///   - descriptors: The most that it takes and gives.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call, whose descriptors are in `Call.descriptors`. Those that it doesn't
    ///     keep are closed.
    public mutating func action<A: Action>(
        _ type: A.Type, descriptors: DescriptorCounts, auth: Bool = false,
        perform: @escaping @ModuleActor (A, Call) async throws -> WithDescriptors<A.Reply>
    ) {
        add(A.name, of: A.self, auth: auth, descriptors: descriptors) { call, header, body in
            let request: A
            do { request = try call.params(A.self, header, body) } catch { return call.fail(error) }
            let details = Call(header, body, call)
            call.run { call in
                let answer = try await perform(request, details)
                try call.reply(try Coding.encode(answer.value), with: answer.descriptors)
            }
        }
    }

    /// Exports an action without a contract whose calls or replies have descriptors.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - descriptors: The most that it takes and gives.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call, whose descriptors are in `Call.descriptors`.
    public mutating func action(
        _ destination: String, descriptors: DescriptorCounts, auth: Bool = false,
        perform: @escaping @ModuleActor (Call) async throws -> WithDescriptors<JSON>
    ) {
        add(ActionName(splitting: destination), auth: auth, descriptors: descriptors) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in
                let answer = try await perform(request)
                try call.reply(answer.value.encoded(), with: answer.descriptors)
            }
        }
    }
}

extension ModuleRuntime {
    /// Makes a request with descriptors, and waits for its answer, which may have some.
    func request(
        _ outgoing: Outgoing, _ body: Body, with descriptors: [Descriptor]
    ) async throws -> ([UInt8], [Descriptor]) {
        var outgoing = try with(descriptors, outgoing)
        let measurement = telemetry?.begin(&outgoing)
        do {
            let answer = try await exchangeDescriptors(outgoing, body)
            measurement?.ended()
            return answer
        } catch {
            measurement?.ended(error)
            throw error
        }
    }

    /// Returns a request with descriptors.
    func with(_ descriptors: [Descriptor], _ outgoing: Outgoing) throws(BusError) -> Outgoing {
        guard offers.exports.takesDescriptors else {
            throw BusError(
                .badParams,
                "\(outgoing.what) has descriptors, and this module takes none: say `exports.usesDescriptors()` in "
                    + "`Module.register`")
        }
        var outgoing = outgoing
        outgoing.extras.descriptors = descriptors
        return outgoing
    }

    private func exchangeDescriptors(_ outgoing: Outgoing, _ body: Body) async throws -> ([UInt8], [Descriptor]) {
        let session = try await connection.session(for: outgoing)
        let scope = CallScope.current
        defer { scope?.resumed() }
        let id = session.takeID()
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                do {
                    guard !Task.isCancelled else {
                        throw BusError(.cancelled, "\(outgoing.what) was cancelled before it was sent")
                    }
                    try body.withUnsafeBytes { body throws(BusError) in
                        try session.request(
                            outgoing, body, scope: scope, id,
                            .callback { [unowned session] answer in
                                let descriptors = session.takeDescriptors()
                                continuation.resume(with: answer.map { ($0, descriptors) }.mapError { $0 as any Error })
                            })
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            onModuleActor { session.cancel(id) }
        }
    }
}
