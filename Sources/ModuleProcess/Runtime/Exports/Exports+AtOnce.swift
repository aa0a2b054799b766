public import StrataCore

// Handlers without an `await`: the compiler prefers these where a closure or a
// method isn't `async`. They run as their call is read, and need no task.
extension Exports {
    /// Exports an action whose handler waits for nothing, and so costs least.
    /// - Parameters:
    ///   - type: its contract.
    ///   - auth: whether the app's authorizer is asked before each call.
    ///   - perform: on the module's loop; what it throws is the caller's error.
    @_disfavoredOverload  // a closure without `return` is meant for the one that answers nothing
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) throws -> A.Reply
    ) {
        add(A.name, auth: auth) { call, header, body in call.run(A.self, header, body, atOnce: perform) }
    }

    /// Exports an action that answers nothing, and whose handler waits for
    /// nothing.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, auth: auth) { call, header, body in
            call.run(A.self, header, body) {
                try perform($0)
                return Nothing()
            }
        }
    }

    /// Exports an action whose handler waits for nothing, and wants to know who
    /// calls, and more.
    @_disfavoredOverload  // a closure without `return` is meant for the one that answers nothing
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) throws -> A.Reply
    ) {
        add(A.name, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { try perform($0, info) }
        }
    }

    /// Exports an action that answers nothing, and whose handler waits for
    /// nothing, and wants to know who calls, and more.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) {
                try perform($0, info)
                return Nothing()
            }
        }
    }

    /// Exports an action without a contract whose handler waits for nothing:
    /// JSON in, JSON out, `nil` for null.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: whether the app's authorizer is asked.
    ///   - perform: what answers.
    public mutating func action(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) throws -> JSON
    ) {
        bytes(destination, auth: auth) { try perform($0).encoded() }
    }

    /// Exports an action without a contract whose bytes are nobody's to look
    /// into, and whose handler waits for nothing. The cheapest there is.
    public mutating func bytes(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) throws -> [UInt8]
    ) {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            call.run(Call(header, body, call), atOnce: perform) { $0.reply($1) }
        }
    }
}

extension IncomingCall {
    /// Reads typed parameters, and runs a handler with them that waits for
    /// nothing.
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
