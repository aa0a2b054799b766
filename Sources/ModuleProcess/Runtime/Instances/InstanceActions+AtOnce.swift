public import StrataCore

// Handlers without an `await`, as in `Exports+AtOnce.swift`.
extension InstanceActions {
    /// Adds an action whose handler waits for nothing, and so costs least.
    /// - Parameters:
    ///   - type: its contract.
    ///   - auth: whether the app's authorizer is asked before each call.
    ///   - perform: on the module's loop; what it throws is the caller's error.
    @_disfavoredOverload  // a closure without `return` is meant for the one that answers nothing
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) throws -> A.Reply
    ) {
        add(A.name, auth: auth) { object, call, header, body in
            call.run(A.self, header, body, atOnce: { try perform(object, $0) })
        }
    }

    /// Adds an action that answers nothing, and whose handler waits for nothing.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, auth: auth) { object, call, header, body in
            call.run(
                A.self, header, body,
                atOnce: {
                    try perform(object, $0)
                    return Nothing()
                })
        }
    }

    /// Adds an action whose handler waits for nothing, and wants to know more of
    /// the call.
    @_disfavoredOverload  // a closure without `return` is meant for the one that answers nothing
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A, Call) throws -> A.Reply
    ) {
        add(A.name, auth: auth) { object, call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body, atOnce: { try perform(object, $0, info) })
        }
    }

    /// Adds an action that answers nothing, and whose handler waits for nothing,
    /// and wants to know more of the call.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (Object, A, Call) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, auth: auth) { object, call, header, body in
            let info = Call(header, body, call)
            call.run(
                A.self, header, body,
                atOnce: {
                    try perform(object, $0, info)
                    return Nothing()
                })
        }
    }

    /// Adds an action without a contract whose handler waits for nothing: JSON
    /// in, JSON out.
    /// - Parameters:
    ///   - name: the action's own.
    ///   - auth: whether the app's authorizer is asked.
    ///   - perform: what answers.
    public mutating func action(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) throws -> JSON
    ) {
        bytes(name, auth: auth) { try perform($0, $1).encoded() }
    }

    /// Adds an action without a contract whose bytes are nobody's to look into,
    /// and whose handler waits for nothing.
    /// - Parameters:
    ///   - name: the action's own.
    ///   - auth: whether the app's authorizer is asked.
    ///   - perform: what answers.
    public mutating func bytes(
        _ name: String, auth: Bool = false, perform: @escaping @ModuleActor (Object, Call) throws -> [UInt8]
    ) {
        add(ActionName(interface: interface, action: name), auth: auth) { object, call, header, body in
            call.run(Call(header, body, call), atOnce: { try perform(object, $0) }, { $0.reply($1) })
        }
    }
}
