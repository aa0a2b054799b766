public import StrataCore

/// What `Bus.create` gives: an instance of another module's interface, which
/// this module alone can call.
///
/// It is released with the last reference to it, or before by `release`, and
/// ends with this module's connection: after that its requests fail with
/// `unknown-instance`. Of an interface that has only one instance this is that
/// one: its calls go to the plain name, and it has no end.
@ModuleActor
public final class Instance {
    /// As it stands on the wire: `Cart#12`, or `Cart`.
    public nonisolated var name: String { lease.name }

    /// What was asked for; behind an adapter another name than the provider's.
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

    /// Releases it. The second time does nothing, nor where it has ended.
    ///
    /// Calls that its owner is serving go on; new ones fail.
    public func release() async throws {
        guard lease.release() != nil else { return }
        do {
            try await bus.call("bus/release", ["instance": .string(name)])
        } catch let error as BusError where error.code == .died || error.code == .unknownInstance {
            // It has ended another way.
        } catch {
            lease.keep()
            throw error
        }
    }

    // MARK: Requests

    /// Calls an action of the instance, as `Bus.call` does.
    /// - Throws: `unknown-action` for another interface's action, too.
    @discardableResult
    public func call<A: Action>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, meta: JSON? = nil
    ) async throws -> A.Reply {
        let destination = try destination(A.name)
        return try await bus.call(action, outgoing(.call(destination, deadline: deadline, auth: auth), meta))
    }

    /// Calls an action without a contract: JSON in, JSON out.
    /// - Parameters:
    ///   - action: the action's own name.
    ///   - params: what is sent.
    ///   - deadline: as of a call with a contract.
    ///   - auth: as of a call with a contract.
    ///   - meta: as of a call with a contract.
    @discardableResult
    public func call(
        _ action: String, _ params: JSON = nil, deadline: Duration? = nil, auth: Authorization = .asked,
        meta: JSON? = nil
    ) async throws -> JSON {
        try await bus.call(params, outgoing(.call("\(name)/\(action)", deadline: deadline, auth: auth), meta))
    }

    /// Calls an action that answers bit by bit, as `Bus.stream` does. The
    /// stream keeps the instance.
    /// - Throws: `unknown-action` for another interface's action, too.
    public func stream<A: StreamingAction>(
        _ action: A, deadline: Duration? = nil, auth: Authorization = .asked, meta: JSON? = nil
    ) throws -> ReplyStream<A.Element> {
        let destination = try destination(A.name)
        return try bus.stream(action, outgoing(.stream(destination, deadline: deadline, auth: auth), meta), of: self)
    }

    /// Calls a stream without a contract.
    /// - Parameters:
    ///   - action: the action's own name.
    ///   - params: what is sent.
    ///   - deadline: as of a call with a contract.
    ///   - auth: as of a call with a contract.
    ///   - meta: as of a call with a contract.
    public func stream(
        _ action: String, _ params: JSON = nil, deadline: Duration? = nil, auth: Authorization = .asked,
        meta: JSON? = nil
    ) throws -> ReplyStream<JSON> {
        try bus.stream(
            params, outgoing(.stream("\(name)/\(action)", deadline: deadline, auth: auth), meta), of: self)
    }

    private func outgoing(_ request: Outgoing, _ meta: JSON?) throws -> Outgoing {
        var outgoing = try request.with(meta: meta)
        outgoing.lease = lease
        return outgoing
    }

    private func destination(_ action: ActionName) throws -> String {
        let wanted = Name.withoutRouterSuffix(action.interface)
        guard wanted == interface || wanted == name.prefix(while: { $0 != "#" }) else {
            throw BusError(
                .unknownAction,
                "\(action) was not sent: \(name) is an instance of \(interface), and the action is of another interface"
            )
        }
        return "\(name)/\(action.action)"
    }
}

extension Bus {
    /// Creates an instance of an interface, which this module alone can call.
    ///
    /// Waits for a module that is starting or can be started. Of an interface
    /// that has only one instance this gives that one.
    /// - Throws: `overloaded` where this module has as many as it may
    ///   (`limits.instances` in the manifest).
    public func create(_ interface: any Interface.Type, deadline: Duration? = nil) async throws -> Instance {
        try await create(interface.name, deadline: deadline)
    }

    /// Creates an instance of an interface without a contract.
    public func create(_ interface: String, deadline: Duration? = nil) async throws -> Instance {
        runtime.releaseMore()
        let outgoing = Outgoing.call("bus/create", deadline: deadline)
        let (reply, session) = try await runtime.exchange(outgoing, Body(["interface": .string(interface)]))
        guard let name = try json(reply, from: outgoing)["instance"]?.string else {
            throw BusError(.failed, "the reply of bus/create names no instance", ran: .yes)
        }
        return Instance(interface, InstanceLease(name, session), self)
    }
}
