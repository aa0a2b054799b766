public import StrataCore

// Handlers without an `await`. The compiler prefers these overloads if a closure or a method isn't
// `async`. They run as soon as their call is read, and need no task.
extension Exports {
    /// Exports an action whose handler never waits, which is the cheapest kind with a contract.
    /// - Parameters:
    ///   - type: The action's contract.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call on the module's loop. An error that it throws is sent to the
    ///     caller.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { call, header, body in call.run(A.self, header, body, atOnce: perform) }
    }

    /// Exports an action without a reply, whose handler never waits.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            call.run(A.self, header, body) {
                try perform($0)
                return Nothing()
            }
        }
    }

    /// Exports an action whose handler never waits, and also receives the `Call`.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { try perform($0, info) }
        }
    }

    /// Exports an action without a reply, whose handler never waits, and also receives the `Call`.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) {
                try perform($0, info)
                return Nothing()
            }
        }
    }

    /// Exports an action without a contract whose handler never waits: JSON in, JSON out, `nil` for
    /// null.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func action(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) throws -> JSON
    ) {
        bytes(destination, auth: auth) { try perform($0).encoded() }
    }

    /// Exports an action without a contract whose bytes are passed through unread, and whose
    /// handler never waits. The cheapest kind of action.
    public mutating func bytes(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) throws -> [UInt8]
    ) {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            call.run(Call(header, body, call), atOnce: perform) { $0.reply($1) }
        }
    }
}

extension IncomingCall {
    /// Decodes typed parameters, and runs a handler with them that never waits.
    func run<A: Action>(
        _ type: A.Type, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        atOnce perform: @escaping @ModuleActor (A) throws -> A.Reply
    ) {
        let request: A
        do { request = try params(A.self, header, body) } catch {
            fail(error)
            return
        }
        run(request, atOnce: perform) { try $0.reply(encoding: $1) }
    }
}
