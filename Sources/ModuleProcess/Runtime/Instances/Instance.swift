public import StrataCore

/// An instance of another module's interface, created by `Bus.create`. Only this module can call
/// it.
///
/// The instance is released with the last reference to it, or earlier by `release`. It ends with
/// this module's connection; later requests fail with `unknown-instance`. If the interface has only
/// one instance, this is that one: its calls go to the plain name, and it never ends.
@ModuleActor
public final class Instance {
    /// The name on the wire: `Cart#12`, or `Cart`.
    public nonisolated var name: String { lease.name }

    /// The interface that was asked for. Behind an adapter, the provider's interface has another
    /// name.
    private let interface: String
    private let lease: InstanceLease
    private let bus: Bus

    init(_ interface: String, _ lease: InstanceLease, _ bus: Bus) {
        self.interface = Name.withoutRouterSuffix(interface)
        self.lease = lease
        self.bus = bus
    }

    deinit {
        let lease = lease
        let bus = bus
        onModuleActor { bus.runtime.releaseLater(lease) }
    }

    /// Releases the instance. Does nothing if it is already released or has ended.
    ///
    /// Calls that its owner is handling continue; new calls fail.
    public func release() async throws {
        guard lease.release() != nil else { return }
        bus.runtime.leases[name] = nil
        do {
            try await bus.call("bus/release", ["instance": .string(name)])
        } catch let error as BusError where error.code == .died || error.code == .unknownInstance {
            // The instance has already ended another way.
        } catch {
            lease.keep()
            throw error
        }
    }

    /// Waits until the instance has ended: with its owner's process, with this module's connection,
    /// or by `release`. Returns early if the task is cancelled. An interface that has only one
    /// instance never ends.
    public func ended() async {
        for await _ in lease.untilEnd() {}
    }

    // MARK: Requests

    /// Calls an action of the instance, as `Bus.call` does.
    /// - Throws: Also `unknown-action` if the action belongs to another interface.
    @discardableResult
    public func call<A: Action>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, meta: JSON? = nil
    ) async throws -> A.Reply {
        let destination = try destination(A.name)
        return try await bus.call(action, outgoing(.call(destination, deadline: deadline, auth: auth), meta))
    }

    /// Calls an action without a contract: JSON in, JSON out.
    /// - Parameters:
    ///   - action: The action's own name.
    ///   - params: The parameters to send.
    ///   - deadline: As for a call with a contract.
    ///   - auth: As for a call with a contract.
    ///   - meta: As for a call with a contract.
    @discardableResult
    public func call(
        _ action: String, _ params: JSON = nil, deadline: Duration? = nil, auth: Authorization = .asked,
        meta: JSON? = nil
    ) async throws -> JSON {
        try await bus.call(params, outgoing(.call("\(name)/\(action)", deadline: deadline, auth: auth), meta))
    }

    /// Calls an action that replies in parts, as `Bus.stream` does. The stream keeps the instance
    /// alive.
    /// - Throws: Also `unknown-action` if the action belongs to another interface.
    public func stream<A: StreamingAction>(
        _ action: A, deadline: Duration? = nil, credit: Int = ReplyStream<A.Element>.defaultCredit,
        auth: Authorization = .asked, meta: JSON? = nil
    ) throws -> ReplyStream<A.Element> {
        let request = Outgoing.stream(try destination(A.name), deadline: deadline, credit: credit, auth: auth)
        return try bus.stream(action, outgoing(request, meta), of: self)
    }

    /// Calls a stream without a contract.
    /// - Parameters:
    ///   - action: The action's own name.
    ///   - params: The parameters to send.
    ///   - deadline: As for a stream with a contract.
    ///   - credit: As for a stream with a contract.
    ///   - auth: As for a stream with a contract.
    ///   - meta: As for a stream with a contract.
    public func stream(
        _ action: String, _ params: JSON = nil, deadline: Duration? = nil,
        credit: Int = ReplyStream<JSON>.defaultCredit, auth: Authorization = .asked, meta: JSON? = nil
    ) throws -> ReplyStream<JSON> {
        let request = Outgoing.stream("\(name)/\(action)", deadline: deadline, credit: credit, auth: auth)
        return try bus.stream(params, outgoing(request, meta), of: self)
    }

    private func outgoing(_ request: Outgoing, _ meta: JSON?) throws -> Outgoing {
        var outgoing = try request.with(meta: meta)
        outgoing.extras.lease = lease
        return outgoing
    }

    private func destination(_ action: ActionName) throws -> String {
        let wanted = Name.withoutRouterSuffix(action.interface)
        guard wanted == interface || wanted == name.prefix(while: { $0 != "#" }) else {
            throw BusError(
                .unknownAction,
                "\(action) was not sent: \(name) is an instance of \(interface), and the action belongs to another "
                    + "interface"
            )
        }
        return "\(name)/\(action.action)"
    }
}

extension Bus {
    /// Creates an instance of an interface that only this module can call.
    ///
    /// Waits for the provider if it is starting or can be started, and for its consent. If the
    /// interface has only one instance, returns that one.
    /// - Throws: The provider's error if it refuses; `overloaded` if this module already has as many
    ///   instances as `limits.instances` in the manifest allows.
    public func create(_ interface: any Interface.Type, deadline: Duration? = nil) async throws -> Instance {
        try await create(interface.name, deadline: deadline)
    }

    /// Creates an instance of an interface, of which the provider gets to know the params: a value of
    /// a type that both agree on. Nobody gets them if the interface has only one instance.
    public func create(
        _ interface: any Interface.Type, _ params: some Encodable, deadline: Duration? = nil
    ) async throws -> Instance {
        try await create(interface.name, params: try Coding.encode(params), deadline: deadline)
    }

    /// Creates an instance of an interface by name, without a contract.
    public func create(_ interface: String, _ params: JSON = nil, deadline: Duration? = nil) async throws -> Instance {
        try await create(interface, params: params == .null ? [] : params.encoded(), deadline: deadline)
    }

    private func create(_ interface: String, params: [UInt8], deadline: Duration?) async throws -> Instance {
        runtime.releaseMore()
        let outgoing = Outgoing.call("bus/create", deadline: deadline)
        var body = Array("{\"interface\":".utf8) + JSON.string(interface).encoded()
        if !params.isEmpty { body += Array(",\"params\":".utf8) + params }
        body.append(UInt8(ascii: "}"))
        let (reply, session) = try await runtime.exchange(outgoing, .bytes(body))
        guard let name = try json(reply, from: outgoing)["instance"]?.string else {
            throw BusError(.failed, "the reply of bus/create names no instance", ran: .yes)
        }
        let lease = InstanceLease(name, session)
        runtime.leases[name] = WeakLease(lease: lease)
        return Instance(interface, lease, self)
    }
}
