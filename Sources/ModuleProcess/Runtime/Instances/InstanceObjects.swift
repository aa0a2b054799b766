public import StrataCore

/// The instances of one interface, whatever the type of their objects.
@ModuleActor
protocol InstanceSet: AnyObject {
    /// Makes the object of a new instance. If it throws, the instance isn't created.
    func create(_ number: UInt64, creator: String, params: JSON) throws
    /// Releases an instance's object.
    /// - Returns: The work that remains; nil if the instance had no object.
    func release(_ number: UInt64) -> InstanceEnd?
    /// Releases the objects of all instances.
    func releaseAll() -> [InstanceEnd]
}

/// The work that remains for an ended instance, with a name for logs.
typealias InstanceEnd = (name: String, work: @ModuleActor () async throws -> Void)

/// The objects of one interface. The broker asks for each new instance, and `make` makes its object.
/// A broker of an older build doesn't ask: then the first call makes it.
///
/// After `module/released` the broker sends the instance no calls, so a released object is not made
/// again.
@ModuleActor
final class InstanceObjects<Object: AnyObject>: InstanceSet {
    private let interface: String
    private let most: Int
    private let make: @ModuleActor (NewInstance) throws -> Object
    private let released: @ModuleActor (Object) async throws -> Void
    private var objects: [UInt64: Object] = [:]
    /// The number of released objects whose `released` is still running.
    private var ending = 0

    init(
        _ interface: String, most: Int, make: @escaping @ModuleActor (NewInstance) throws -> Object,
        released: @escaping @ModuleActor (Object) async throws -> Void
    ) {
        self.interface = interface
        self.most = most
        self.make = make
        self.released = released
    }

    /// Returns the object that a call goes to, and makes it if this is the first call.
    func object(for header: borrowing Header) throws -> Object {
        let to = header.to
        guard let digits = Destination(to)?.instance,
            let number = Name.instanceNumber(UnsafeRawBufferPointer(rebasing: to[digits]))
        else { throw ModuleError(.unknownAction, "\(to.text) names no instance of \(interface)") }
        return try objects[number] ?? made(number, creator: header.from.text, params: .null)
    }

    func create(_ number: UInt64, creator: String, params: JSON) throws {
        _ = try made(number, creator: creator, params: params)
    }

    private func made(_ number: UInt64, creator: String, params: JSON) throws -> Object {
        guard objects.count + ending < most else {
            throw ModuleError(
                .overloaded,
                "\(interface) has objects for \(most) instances, its limit, and \(interface)#\(number) would need one "
                    + "more: release some, or raise `most` where the interface is exported")
        }
        let object = try make(NewInstance(name: "\(interface)#\(number)", creator: creator, params: params))
        objects[number] = object
        return object
    }

    func release(_ number: UInt64) -> InstanceEnd? { objects.removeValue(forKey: number).map { end($0, number) } }

    func releaseAll() -> [InstanceEnd] {
        let all = objects.sorted { $0.key < $1.key }
        objects = [:]
        return all.map { end($0.value, $0.key) }
    }

    private func end(_ object: Object, _ number: UInt64) -> InstanceEnd {
        ending += 1
        return (
            "\(interface)#\(number) released",
            {
                defer { self.ending -= 1 }
                try await self.released(object)
            }
        )
    }
}

/// An instance that another module wants to create.
public struct NewInstance: Sendable {
    /// `Interface#NUMBER`.
    public let name: String
    /// The name of the module that created it; only that module can call it.
    public let creator: String
    /// What its creator said about it, as JSON; null if it said nothing.
    public let params: JSON

    /// Decodes the params as a type of the owner's choice.
    /// - Throws: `bad-params`, which refuses the instance unless `make` catches it.
    @ModuleActor
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try params.encoded().withUnsafeBytes { try Coding.params(type, $0) }
    }
}

/// The instances whose last reference is released, but which the broker hasn't heard of yet.
///
/// The broker is told of them one by one, so that releases never take more than one of this
/// module's open requests. The list is never longer than the number of instances that the module
/// may have.
struct InstanceReleases {
    private var names: [String] = []
    /// Whether a release awaits the broker's answer.
    private var isAsking = false

    var isEmpty: Bool { names.isEmpty }
    var count: Int { names.count }

    mutating func add(_ name: String) { names.append(name) }

    /// The instance to release next; nil while a release awaits its answer. Call `asked` once the
    /// request is sent.
    var next: String? { isAsking ? nil : names.last }

    mutating func asked() {
        isAsking = true
        names.removeLast()
    }

    mutating func answered() { isAsking = false }

    /// Drops the list, because instances end with their connection.
    mutating func connectionLost() { names = [] }
}

/// The lifetime of an instance that this module has created. It ends when the instance is released
/// or the connection that it was created on ends.
@ModuleActor
final class InstanceLease {
    /// `Interface#NUMBER`, or the plain name of an interface that has only one instance.
    nonisolated let name: String
    private let isSingle: Bool
    private weak var session: Session?
    private var isReleased = false
    private var hasEnded = false
    /// The streams that finish when the instance ends.
    private var waiters: [AsyncStream<Never>.Continuation] = []

    init(_ name: String, _ session: Session) {
        self.name = name
        isSingle = !name.utf8.contains(UInt8(ascii: "#"))
        self.session = session
    }

    /// Whether there is something to release.
    var isHeld: Bool { !isSingle && !isReleased && !hasEnded && session?.isOpen == true }

    /// Notes that the instance has ended with its owner or with the connection.
    func end() {
        hasEnded = true
        for waiter in waiters { waiter.finish() }
        waiters = []
    }

    /// Returns a stream that finishes when the instance ends, at once if it has ended.
    func untilEnd() -> AsyncStream<Never> {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        if isSingle || isHeld { waiters.append(continuation) } else { continuation.finish() }
        return stream
    }

    /// Ends the lease on this side.
    /// - Returns: The connection on which to tell the broker; nil if there is nothing to tell.
    func release() -> Session? {
        let told = isHeld ? session : nil
        isReleased = true
        for waiter in waiters { waiter.finish() }
        waiters = []
        return told
    }

    /// Takes back the release, because the broker could not be told.
    func keep() { isReleased = false }

    /// - Throws: `unknown-instance` if the instance has ended.
    func check(for what: String) throws(BusError) {
        guard !isSingle, !isHeld else { return }
        throw BusError(
            .unknownInstance,
            "\(what) was not sent: \(name) "
                + (isReleased
                    ? "has been released"
                    : session?.isOpen == true
                        ? "ended with its owner's process"
                        : "ended when this module lost its connection")
                + "; create another one with `bus.create`")
    }
}

/// A lease that doesn't keep its instance.
struct WeakLease {
    weak var lease: InstanceLease?
}
