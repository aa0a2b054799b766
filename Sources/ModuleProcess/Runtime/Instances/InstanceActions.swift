public import StrataCore

/// The actions of an interface with `instances: multiple`, filled in by `Exports.instances`. Each
/// handler receives its instance's object as the first argument.
@ModuleActor
public struct InstanceActions<Object: AnyObject> {
    typealias Start = @ModuleActor (Object, IncomingCall, borrowing Header, UnsafeRawBufferPointer) -> Void

    let interface: String
    private let objects: InstanceObjects<Object>
    private(set) var actions: [(name: String, export: Exports.ActionExport)] = []

    init(_ interface: String, _ objects: InstanceObjects<Object>) {
        self.interface = interface
        self.objects = objects
    }

    /// Adds an action.
    /// - Parameters:
    ///   - type: The action's contract.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call on the module's loop. An error that it throws is sent to the
    ///     caller.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) async throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            call.run(A.self, header, body) { request, _ in try await perform(object, request) }
        }
    }

    /// Adds an action without a reply.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) async throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            call.run(A.self, header, body) { request, _ in
                try await perform(object, request)
                return Nothing()
            }
        }
    }

    /// Adds an action whose handler also receives the `Call`.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A, Call) async throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { request, _ in try await perform(object, request, info) }
        }
    }

    /// Adds an action without a reply, whose handler also receives the `Call`.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A, Call) async throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { request, _ in
                try await perform(object, request, info)
                return Nothing()
            }
        }
    }

    /// Adds an action without a contract: JSON in, JSON out.
    /// - Parameters:
    ///   - name: The action's own name.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func action(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) async throws -> JSON
    ) {
        bytes(name, auth: auth) { try await perform($0, $1).encoded() }
    }

    /// Adds an action without a contract whose bytes are passed through unread.
    /// - Parameters:
    ///   - name: The action's own name.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func bytes(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) async throws -> [UInt8]
    ) {
        add(name, auth: auth) { object, call, header, body in
            let request = Call(header, body, call)
            call.run { call in call.reply(try await perform(object, request)) }
        }
    }

    /// Adds an action that replies with a sequence, as `Exports.stream` does.
    public mutating func stream<A: StreamingAction, Elements: AsyncSequence>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) async throws -> Elements
    ) where Elements.Element == A.Element {
        add(A.name, of: A.self, auth: auth, isStream: true) { object, call, header, body in
            call.stream(A.self, header, body) { try await perform(object, $0) }
        }
    }

    /// Adds an action that replies with a sequence whose elements are there at once, such as an array.
    public mutating func stream<A: StreamingAction, Elements: Sequence>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) async throws -> Elements
    ) where Elements.Element == A.Element {
        stream(type, auth: auth) { PresentElements(base: try await perform($0, $1)) }
    }

    /// Adds a stream without a contract.
    /// - Parameters:
    ///   - name: The action's own name.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func stream<Elements: AsyncSequence>(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) async throws -> Elements
    ) where Elements.Element == JSON {
        add(name, auth: auth, isStream: true) { object, call, header, body in
            let request = Call(header, body, call)
            call.run { call in try await call.send(try await perform(object, request)) { $0.encoded() } }
        }
    }

    /// Adds a stream without a contract, of elements that are there at once.
    public mutating func stream<Elements: Sequence>(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) async throws -> Elements
    ) where Elements.Element == JSON {
        stream(name, auth: auth) { PresentElements(base: try await perform($0, $1)) }
    }

    mutating func add(
        _ name: ActionName, of member: (any InterfaceMember.Type)? = nil, auth: Bool, isStream: Bool = false,
        start: @escaping Start
    ) {
        precondition(
            Name.withoutRouterSuffix(name.interface) == interface,
            "\(name) is listed as an action of \(interface), and belongs to another interface")
        add(name.action, of: member, auth: auth, isStream: isStream, start: start)
    }

    /// - Parameter name: The action's own name.
    private mutating func add(
        _ name: String, of member: (any InterfaceMember.Type)? = nil, auth: Bool, isStream: Bool = false,
        start: @escaping Start
    ) {
        let objects = objects
        let export = Exports.ActionExport(auth: auth, member: member, isStream: isStream) { call, header, body in
            let object: Object
            // At once: a call's object must exist before a later release is read.
            do { object = try objects.object(for: header) } catch {
                call.fail(error)
                return
            }
            start(object, call, header, body)
        }
        actions.append((name, export))
    }
}
