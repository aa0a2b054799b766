@testable import Strata

/// An interface of which each user has instances of its own.
enum Cart: Interface {
    static let name = "Cart"

    /// Puts a thing in, and replies with the number of things.
    struct Add: Action {
        static let name = action("add")
        typealias Reply = Int
        var thing: String
    }

    struct Clear: Action {
        static let name = action("clear")
    }

    /// All things, one after another.
    struct Things: StreamingAction {
        static let name = action("things")
        typealias Element = String
        var endless = false
    }
}

final class CartModule: Module {
    static let name = "Store"
    private(set) var made: [String] = []
    private(set) var released: [String] = []
    private let gone = Gone()
    /// The names of the objects that were freed.
    var freed: [String] { gone.names }
    private var refusals = 1

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {
        exports.instances(of: Cart.self, most: 3, make: make, released: release) { cart in
            cart.action(Cart.Add.self) { session, request in session.add(request.thing) }
            cart.action(Cart.Clear.self) { session, _ in session.things = [] }
            cart.action("owner") { session, call in [.string(session.instance.creator), .string(call.from)] }
            cart.bytes("bytes") { _, call in call.body }
            cart.action("hang") { session, _ in
                defer { session.things.append("cancelled") }
                try await sleep(milliseconds: 3_600_000)
                return nil
            }
            cart.stream(Cart.Things.self) { session, request in
                AsyncStream { continuation in
                    for thing in session.things { continuation.yield(thing) }
                    if !request.endless { continuation.finish() }
                }
            }
            cart.stream("json") { session, _ in
                AsyncStream { continuation in
                    for thing in session.things { continuation.yield(JSON.string(thing)) }
                    continuation.finish()
                }
            }
        }
        exports.action("Till/count") { [self] _ in .integer(Int64(released.count)) }
    }

    private func make(_ instance: NewInstance) throws -> CartSession {
        if instance.creator == "Refused" {
            refusals -= 1
            if refusals >= 0 { throw ModuleError("Store.closed", "come again") }
        }
        let things = instance.params == .null ? [] : try instance.decode([String].self)
        made.append(instance.name)
        let session = CartSession(instance, gone)
        session.things = things
        return session
    }

    private func release(_ session: CartSession) async throws {
        released.append(session.instance.name)
        if session.things == ["bomb"] { throw ModuleError("Store.bomb", "it went off") }
    }
}

@ModuleActor
final class CartSession {
    nonisolated let instance: NewInstance
    private let gone: Gone
    var things: [String] = []

    init(_ instance: NewInstance, _ gone: Gone) {
        self.instance = instance
        self.gone = gone
    }

    deinit { gone.add(instance.name) }

    func add(_ thing: String) -> Int {
        things.append(thing)
        return things.count
    }
}

/// The names of freed objects, whichever thread frees them.
final class Gone: Sendable {
    private let list = Locked<[String]>([])
    var names: [String] { list.withLock { $0 } }
    func add(_ name: String) { list.withLock { $0.append(name) } }
}
