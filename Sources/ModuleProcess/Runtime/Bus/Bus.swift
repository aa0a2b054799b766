public import StrataCore

/// A module's access to the bus: requests to other modules, notifications and URLs.
///
/// The bus is isolated to `ModuleActor`; elsewhere each use is an `await`. A request that a handler
/// makes is part of the handler's own call: it ends with that call, shares its deadline, and
/// carries its trace. A failed request throws a `BusError`.
@ModuleActor
public final class Bus {
    /// The most background tasks that can run at once.
    public static let mostBackgrounds = 256

    let runtime: ModuleRuntime

    init(_ runtime: ModuleRuntime) { self.runtime = runtime }

    /// The module's own name.
    public var module: String { runtime.name }

    /// The module's clock in milliseconds, which only goes forward. `Call.deadline` is a time on
    /// this clock.
    public var now: UInt64 { runtime.surroundings.now }

    /// The time that the current handler has left; nil if the handler has no deadline, and outside
    /// of handlers.
    public var remaining: Duration? {
        CallScope.current?.remaining.map { .milliseconds(Int64($0)) }
    }

    /// Whether the module is connected to the bus. Without a connection, requests wait for one
    /// within their deadline, and notifications fail.
    public var isConnected: Bool { runtime.connection.session != nil }

    // MARK: Requests

    /// Calls an action, and waits for its reply.
    /// - Parameters:
    ///   - action: The action's parameters.
    ///   - deadline: The time that the call may take; 30 s by default. Within a handler, it is at
    ///     most the time that the handler has left.
    ///   - auth: `skip` is for modules that the app's manifest trusts.
    ///   - key: With replicas of the callee, calls with the same key go to the same one; 1 to 64 bytes.
    ///   - meta: An object that the callee finds in `Call.meta`, at most 4 KiB as JSON. A larger
    ///     one fails with `too-large`, a value of another kind with `bad-params`.
    @discardableResult
    nonisolated(nonsending) public func call<A: Action>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, key: String? = nil, meta: JSON? = nil
    ) async throws -> A.Reply {
        try await call(action, .call(A.name.destination, deadline: deadline, auth: auth).with(key: key, meta: meta))
    }

    @inline(__always)  // as `ModuleRuntime.request` is
    nonisolated(nonsending) func call<A: Action>(_ action: A, _ outgoing: Outgoing) async throws -> A.Reply {
        guard ModuleActor.isIsolation(#isolation) else { return try await callOnActor(action, outgoing) }
        let body = try encode(action, for: outgoing)
        return try decode(A.Reply.self, try await runtime.request(outgoing, body), from: outgoing)
    }

    private func callOnActor<A: Action>(_ action: A, _ outgoing: Outgoing) async throws -> A.Reply {
        try await call(action, outgoing)
    }

    /// Calls an action without a contract: JSON in, JSON out.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - params: The parameters to send.
    ///   - deadline: As for a call with a contract.
    ///   - auth: As for a call with a contract.
    ///   - key: As for a call with a contract.
    ///   - meta: As for a call with a contract.
    @discardableResult
    nonisolated(nonsending) public func call(
        _ destination: String, _ params: JSON = nil, deadline: Duration? = nil, auth: Authorization = .asked,
        key: String? = nil, meta: JSON? = nil
    ) async throws -> JSON {
        try await call(params, .call(destination, deadline: deadline, auth: auth).with(key: key, meta: meta))
    }

    @inline(__always)  // as `ModuleRuntime.request` is
    nonisolated(nonsending) func call(_ params: JSON, _ outgoing: Outgoing) async throws -> JSON {
        try json(try await runtime.request(outgoing, Body(params)), from: outgoing)
    }

    /// Calls an action without a contract with JSON bytes, and returns the bytes of its reply. This
    /// is the cheapest call, and what a proxy needs.
    @discardableResult
    nonisolated(nonsending) public func call(
        _ destination: String, bytes: [UInt8], deadline: Duration? = nil, auth: Authorization = .asked,
        key: String? = nil, meta: JSON? = nil
    ) async throws -> [UInt8] {
        let outgoing = try Outgoing.call(destination, deadline: deadline, auth: auth).with(key: key, meta: meta)
        return try await runtime.request(outgoing, .bytes(bytes))
    }

    /// Opens a URL: calls the action that the URL is mapped to, and returns its reply.
    @discardableResult
    public func open(
        _ url: String, deadline: Duration? = nil, key: String? = nil, meta: JSON? = nil
    ) async throws -> JSON {
        let outgoing = try Outgoing.open(url, deadline: deadline).with(key: key, meta: meta)
        return try json(try await runtime.request(outgoing, .none), from: outgoing)
    }

    /// Opens a URL whose action replies with the given type.
    public func open<Reply: Decodable & Sendable>(
        _ url: String, as type: Reply.Type, deadline: Duration? = nil, key: String? = nil, meta: JSON? = nil
    ) async throws -> Reply {
        let outgoing = try Outgoing.open(url, deadline: deadline).with(key: key, meta: meta)
        return try decode(type, try await runtime.request(outgoing, .none), from: outgoing)
    }

    /// Returns whether a URL is mapped to a module that is connected or can be started.
    public func canOpen(_ url: String) async throws -> Bool {
        try await call("bus/canOpen", ["url": .string(url)])["open"]?.bool ?? false
    }

    /// Marks a point of this process's start, such as "cache loaded", for `strata timeline`.
    ///
    /// The broker notes the time at which the mark arrives. A mark of the same name is another one.
    /// The module's next start forgets them all.
    /// - Parameter name: 1 to 256 bytes.
    /// - Throws: `overloaded` beyond 64 marks in one start; `unknown-action` from an older broker.
    public func mark(_ name: String) async throws { try await call("bus/mark", ["name": .string(name)]) }

    // MARK: Coding

    nonisolated func encode(_ value: some Encodable, for outgoing: borrowing Outgoing) throws -> Body {
        do {
            return .bytes(try Coding.encode(value))
        } catch {
            throw BusError(.badParams, "the params of \(outgoing.what) can't be written as JSON: \(error)")
        }
    }

    nonisolated func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8], from outgoing: borrowing Outgoing)
        throws
        -> Value
    {
        do {
            return try Coding.decode(type, bytes)
        } catch {
            let reason = (error as? DecodingError)?.sentence() ?? "\(error)"
            throw BusError(.failed, "the reply of \(outgoing.what) is not a \(type): \(reason)", ran: .yes)
        }
    }

    nonisolated func json(_ bytes: [UInt8], from outgoing: borrowing Outgoing) throws -> JSON {
        do {
            return try Coding.json(bytes)
        } catch {
            throw BusError(.failed, "the reply of \(outgoing.what) is not JSON: \(error)", ran: .yes)
        }
    }
}

/// Whether the app's authorizer is asked about a call to an `auth` action.
public enum Authorization: Sendable {
    /// The authorizer is asked at each call.
    case asked
    /// The authorizer is not asked. Allowed for modules that the app's manifest trusts; other
    /// modules get `forbidden`.
    case skip
}
