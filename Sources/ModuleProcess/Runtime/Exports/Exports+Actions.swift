public import StrataCore

extension Exports {
    /// Exports an action.
    /// - Parameters:
    ///   - type: The action's contract.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call on the module's loop. An error that it throws is sent to the
    ///     caller.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            call.run(A.self, header, body) { request, _ in try await perform(request) }
        }
    }

    /// Exports an action without a reply.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            call.run(A.self, header, body) { request, _ in
                try await perform(request)
                return Nothing()
            }
        }
    }

    /// Exports an action whose handler also receives the `Call`, which names the caller among other
    /// things.
    @_disfavoredOverload  // because a closure without `return` means the overload without a reply
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) async throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { request, _ in try await perform(request, info) }
        }
    }

    /// Exports an action without a reply, whose handler also receives the `Call`.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) async throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { request, _ in
                try await perform(request, info)
                return Nothing()
            }
        }
    }

    /// Exports an action whose handler runs off the loop, as `blocking` does.
    /// - Parameters:
    ///   - type: The action's contract.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - label: Calls with the same label run one after another.
    ///   - perform: Handles a call on another thread.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, blocking label: String?,
        perform: @escaping @Sendable (A) throws -> A.Reply
    ) {
        add(A.name, of: A.self, auth: auth) { call, header, body in
            call.run(A.self, header, body) { request, _ in
                try await Strata.blocking(label: label) { try perform(request) }
            }
        }
    }

    /// Exports an action without a contract: JSON in, JSON out, `nil` for null.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: Whether the app's authorizer is asked before each call.
    ///   - perform: Handles a call.
    public mutating func action(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> JSON
    ) {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in call.reply(try await perform(request).encoded()) }
        }
    }

    /// Exports an action without a contract whose bytes are passed through unread: `Call.body` in,
    /// the reply's bytes out. The cheapest kind of action.
    public mutating func bytes(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> [UInt8]
    ) {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in call.reply(try await perform(request)) }
        }
    }

    /// Exports an interface that takes any action, which is what a proxy needs. `Call.to` names the
    /// action.
    public mutating func anyAction(
        of interface: String, perform: @escaping @ModuleActor (Call) async throws -> [UInt8]
    ) {
        add(ActionName(interface: interface, action: ""), auth: false) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in call.reply(try await perform(request)) }
        }
    }

    /// Maps a URL to an action of this module. Opening the URL calls the action, with the bound
    /// segments and the query as parameters. If the action takes a parameter as a number or a
    /// Boolean, its text is converted.
    /// - Parameters:
    ///   - host: The host in `scheme://host/path`.
    ///   - pattern: A path; `:name` binds a segment.
    ///   - action: The contract of an action of this module.
    public mutating func url<A: Action>(_ host: String, _ pattern: String, to action: A.Type) {
        url(host, pattern, to: A.name.destination)
    }

    /// Maps a URL to an action of this module, named as `Interface/action`.
    public mutating func url(_ host: String, _ pattern: String, to destination: String) {
        add(URLExport(host: host, path: pattern, to: destination))
    }
}

extension IncomingCall {
    /// Decodes typed parameters at once, and runs a handler with them.
    func run<A: Action>(
        _ type: A.Type, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        _ work: @escaping @ModuleActor (A, IncomingCall) async throws -> A.Reply
    ) {
        let request: A
        do { request = try params(A.self, header, body) } catch {
            fail(error)
            return
        }
        run { call in try call.reply(encoding: try await work(request, call)) }
    }

    /// Returns the parameters, which are texts if the call opens a URL.
    func params<Value: Decodable>(_ type: Value.Type, _ header: borrowing Header, _ body: UnsafeRawBufferPointer)
        throws(ModuleError) -> Value
    {
        header.members.contains(.url) ? try URLParameters.decode(type, body) : try Coding.params(type, body)
    }
}
