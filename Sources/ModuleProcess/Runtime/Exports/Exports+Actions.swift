public import StrataCore

extension Exports {
    /// Exports an action.
    /// - Parameters:
    ///   - type: its contract.
    ///   - auth: whether the app's authorizer is asked before each call.
    ///   - perform: on the module's loop; what it throws is the caller's error.
    @_disfavoredOverload  // a closure without `return` is meant for the one that answers nothing
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> A.Reply
    ) {
        add(A.name, auth: auth) { call, header, body in
            call.run(A.self, header, body) { request, _ in try await perform(request) }
        }
    }

    /// Exports an action that answers nothing.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A) async throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, auth: auth) { call, header, body in
            call.run(A.self, header, body) { request, _ in
                try await perform(request)
                return Nothing()
            }
        }
    }

    /// Exports an action whose handler wants to know who calls, and more.
    @_disfavoredOverload  // a closure without `return` is meant for the one that answers nothing
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) async throws -> A.Reply
    ) {
        add(A.name, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { request, _ in try await perform(request, info) }
        }
    }

    /// Exports an action that answers nothing, and whose handler wants to know
    /// who calls, and more.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, perform: @escaping @ModuleActor (A, Call) async throws -> Void
    ) where A.Reply == Nothing {
        add(A.name, auth: auth) { call, header, body in
            let info = Call(header, body, call)
            call.run(A.self, header, body) { request, _ in
                try await perform(request, info)
                return Nothing()
            }
        }
    }

    /// Exports an action that runs off the loop: see `blocking`.
    /// - Parameters:
    ///   - type: its contract.
    ///   - auth: whether the app's authorizer is asked.
    ///   - label: those of one label run one after another.
    ///   - perform: what answers.
    public mutating func action<A: Action>(
        _ type: A.Type, auth: Bool = false, blocking label: String?,
        perform: @escaping @Sendable (A) throws -> A.Reply
    ) {
        add(A.name, auth: auth) { call, header, body in
            call.run(A.self, header, body) { request, _ in
                try await Strata.blocking(label: label) { try perform(request) }
            }
        }
    }

    /// Exports an action without a contract: JSON in, JSON out, `nil` for null.
    /// - Parameters:
    ///   - destination: `Interface/action`.
    ///   - auth: whether the app's authorizer is asked.
    ///   - perform: what answers.
    public mutating func action(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> JSON
    ) {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in call.reply(try await perform(request).encoded()) }
        }
    }

    /// Exports an action without a contract whose bytes are nobody's to look
    /// into: `Call.body` in, the reply's bytes out. The cheapest there is.
    public mutating func bytes(
        _ destination: String, auth: Bool = false, perform: @escaping @ModuleActor (Call) async throws -> [UInt8]
    ) {
        add(ActionName(splitting: destination), auth: auth) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in call.reply(try await perform(request)) }
        }
    }

    /// Exports an interface that takes any action: what a proxy needs.
    /// `Call.to` says which.
    public mutating func anyAction(
        of interface: String, perform: @escaping @ModuleActor (Call) async throws -> [UInt8]
    ) {
        add(ActionName(interface: interface, action: ""), auth: false) { call, header, body in
            let request = Call(header, body, call)
            call.run { call in call.reply(try await perform(request)) }
        }
    }

    /// Maps a URL to an action of this module: opening it calls that, with the
    /// bound segments and the query as parameters. A parameter that the action
    /// wants as a number or a truth value is read from its text.
    /// - Parameters:
    ///   - host: as in `scheme://host/path`.
    ///   - pattern: a path; `:name` binds a segment.
    ///   - action: one of this module's.
    public mutating func url<A: Action>(_ host: String, _ pattern: String, to action: A.Type) {
        url(host, pattern, to: A.name.destination)
    }

    /// Maps a URL to an action of this module, by its `Interface/action`.
    public mutating func url(_ host: String, _ pattern: String, to destination: String) {
        add(URLExport(host: host, path: pattern, to: destination))
    }
}

extension IncomingCall {
    /// Reads typed parameters at once, and runs a handler with them.
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

    /// The parameters, which are texts where somebody opened a URL.
    func params<Value: Decodable>(_ type: Value.Type, _ header: borrowing Header, _ body: UnsafeRawBufferPointer)
        throws(ModuleError) -> Value
    {
        header.members.contains(.url) ? try URLParameters.decode(type, body) : try Coding.params(type, body)
    }
}
