public import StrataCore

// Handlers without an `await`, as in `Exports+AtOnce.swift`.
extension InstanceActions {
    /// Adds an action whose handler never waits, which is the cheapest kind.
    /// - Parameters:
    ///   - type: The action's contract.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call on the module's loop. An error that it throws is sent to the
    ///     caller.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            call.run(A.self, header, body, atOnce: { try perform(object, $0) })
        }
    }

    /// Adds an action without a reply, whose handler never waits.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            call.run(
                A.self, header, body,
                atOnce: {
                    try perform(object, $0)
                    return Nothing()
                })
        }
    }

    /// Adds an action whose handler never waits, and also receives the `Call`.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A, Call) throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body, atOnce: { try perform(object, $0, info) })
        }
    }

    /// Adds an action without a reply, whose handler never waits, and also receives the `Call`.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A, Call) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { object, call, header, body in
            let info = Call(header, body, call)
            call.run(
                A.self, header, body,
                atOnce: {
                    try perform(object, $0, info)
                    return Nothing()
                })
        }
    }

    /// Adds an action without a contract whose handler never waits: JSON in, JSON out.
    /// - Parameters:
    ///   - name: The action's own name.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func action(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) throws -> JSON
    ) {
        bytes(name, auth: auth) { try perform($0, $1).encoded() }
    }

    /// Adds an action without a contract whose bytes are passed through unread, and whose handler
    /// never waits.
    /// - Parameters:
    ///   - name: The action's own name.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func bytes(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) throws -> [UInt8]
    ) {
        add(ActionName(interface: interface, action: name), auth: auth) { object, call, header, body in
            call.run(Call(header, body, call), atOnce: { try perform(object, $0) }, { $0.reply($1) })
        }
    }
}
