public import StrataCore

/// A module's way to the bus: requests to other modules, notifications, URLs.
///
/// On `ModuleActor`; from elsewhere each use is an `await`. What is requested
/// within a handler is a part of what that handler does: it ends with the
/// handler's own call, has its deadline, and carries its trace. What a request
/// can fail with is a `BusError`.
@ModuleActor
public final class Bus {
    /// How many background tasks run at once.
    public static let mostBackgrounds = 256

    let runtime: ModuleRuntime

    init(_ runtime: ModuleRuntime) { self.runtime = runtime }

    /// The module's own name.
    public var module: String { runtime.name }

    /// Milliseconds of the module's clock, which only goes forward: what
    /// `Call.deadline` is on.
    public var now: UInt64 { runtime.surroundings.now }

    /// What is left of the time that the present handler has; nil where it has
    /// no end, and outside of handlers.
    public var remaining: Duration? {
        CallScope.current?.remaining.map { .milliseconds(Int64($0)) }
    }

    /// Whether there is a connection at the moment. Requests made without one
    /// wait for it within their deadline; notifications fail.
    public var isConnected: Bool { runtime.connection.session != nil }

    // MARK: Requests

    /// Calls an action, and waits for its reply.
    /// - Parameters:
    ///   - action: what is asked for.
    ///   - deadline: what it may take; the bus's default is 30 s, and within a
    ///     handler it is at most what the handler has left.
    ///   - auth: `skip` is for modules that their row trusts.
    ///   - meta: an object that the callee finds in `Call.meta`, of at most
    ///     4 KiB as JSON; more is `too-large`, anything else `bad-params`.
    @discardableResult
    public func call<A: Action>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, meta: JSON? = nil
    ) async throws -> A.Reply {
        try await call(action, .call(A.name.destination, deadline: deadline, auth: auth).with(meta: meta))
    }

    @inline(__always)  // as `ModuleRuntime.request` is
    func call<A: Action>(_ action: A, _ outgoing: Outgoing) async throws -> A.Reply {
        let body = try encode(action, for: outgoing)
        return try decode(A.Reply.self, try await runtime.request(outgoing, body), from: outgoing)
    }

    /// Calls an action without a contract: JSON in, JSON out.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - params: what is sent.
    ///   - deadline: as of a call with a contract.
    ///   - auth: as of a call with a contract.
    ///   - meta: as of a call with a contract.
    @discardableResult
    public func call(
        _ destination: String, _ params: JSON = nil, deadline: Duration? = nil, auth: Authorization = .asked,
        meta: JSON? = nil
    ) async throws -> JSON {
        try await call(params, .call(destination, deadline: deadline, auth: auth).with(meta: meta))
    }

    @inline(__always)  // as `ModuleRuntime.request` is
    func call(_ params: JSON, _ outgoing: Outgoing) async throws -> JSON {
        try json(try await runtime.request(outgoing, Body(params)), from: outgoing)
    }

    /// Calls an action without a contract with bytes that are JSON, and gives
    /// its reply's: what a proxy needs, and the cheapest there is.
    @discardableResult
    public func call(
        _ destination: String, bytes: [UInt8], deadline: Duration? = nil, auth: Authorization = .asked,
        meta: JSON? = nil
    ) async throws -> [UInt8] {
        let outgoing = try Outgoing.call(destination, deadline: deadline, auth: auth).with(meta: meta)
        return try await runtime.request(outgoing, .bytes(bytes))
    }

    /// Opens a URL: calls the action that it is mapped to, and gives its reply.
    @discardableResult
    public func open(_ url: String, deadline: Duration? = nil, meta: JSON? = nil) async throws -> JSON {
        let outgoing = try Outgoing.open(url, deadline: deadline).with(meta: meta)
        return try json(try await runtime.request(outgoing, .none), from: outgoing)
    }

    /// Opens a URL whose action answers with this type.
    public func open<Reply: Decodable & Sendable>(
        _ url: String, as type: Reply.Type, deadline: Duration? = nil, meta: JSON? = nil
    ) async throws -> Reply {
        let outgoing = try Outgoing.open(url, deadline: deadline).with(meta: meta)
        return try decode(type, try await runtime.request(outgoing, .none), from: outgoing)
    }

    /// Whether a URL is mapped, and its module is there or can be started.
    public func canOpen(_ url: String) async throws -> Bool {
        try await call("bus/canOpen", ["url": .string(url)])["open"]?.bool ?? false
    }

    // MARK: Coding

    func encode(_ value: some Encodable, for outgoing: borrowing Outgoing) throws -> Body {
        do {
            return .bytes(try Coding.encode(value))
        } catch {
            throw BusError(.badParams, "what was to be sent with \(outgoing.what) can't be written as JSON: \(error)")
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8], from outgoing: borrowing Outgoing) throws
        -> Value
    {
        do {
            return try Coding.decode(type, bytes)
        } catch {
            let reason = (error as? DecodingError)?.sentence() ?? "\(error)"
            throw BusError(.failed, "the reply of \(outgoing.what) is no \(type): \(reason)", ran: .yes)
        }
    }

    func json(_ bytes: [UInt8], from outgoing: borrowing Outgoing) throws -> JSON {
        do {
            return try Coding.json(bytes)
        } catch {
            throw BusError(.failed, "the reply of \(outgoing.what) is no JSON: \(error)", ran: .yes)
        }
    }
}

/// Whether the app's authorizer is asked about a call to an `auth` action.
public enum Authorization: Sendable {
    /// It is, at each call.
    case asked
    /// Allowed to modules that the app's manifest trusts; `forbidden` to others.
    case skip
}
