internal import StrataCore

/// The instances of one interface, whatever their objects are.
@ModuleActor
protocol InstanceSet: AnyObject {
    /// Lets an instance's object go.
    /// - Returns: what is left to do for it; nil where it had no object.
    func release(_ number: UInt64) -> InstanceEnd?
    /// Lets all of them go.
    func releaseAll() -> [InstanceEnd]
}

/// What is to be done for an instance that has ended, its name being for logs.
typealias InstanceEnd = (name: String, work: @ModuleActor () async throws -> Void)

/// The objects of one interface, each made by its instance's first call.
///
/// The broker tells the owner of an instance's end and not of its beginning. It
/// sends no call to an instance after its `module/released`, so that an object
/// that is gone is not made again.
@ModuleActor
final class InstanceObjects<Object: AnyObject>: InstanceSet {
    private let interface: String
    private let most: Int
    private let make: @ModuleActor (NewInstance) throws -> Object
    private let released: @ModuleActor (Object) async throws -> Void
    private var objects: [UInt64: Object] = [:]
    /// Let go, and still at work in `released`.
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

    /// The object that a call goes to.
    func object(for header: borrowing Header) throws -> Object {
        let to = header.to
        guard let digits = Destination(to)?.instance,
            let number = Name.instanceNumber(UnsafeRawBufferPointer(rebasing: to[digits]))
        else { throw ModuleError(.unknownAction, "\(to.text) names no instance of \(interface)") }
        if let object = objects[number] { return object }
        guard objects.count + ending < most else {
            throw ModuleError(
                .overloaded,
                "\(interface) has objects for \(most) instances, its limit, and \(interface)#\(number) would need one "
                    + "more: release some, or raise `most` where the interface is exported")
        }
        let object = try make(NewInstance(name: "\(interface)#\(number)", creator: header.from.text))
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

/// An instance whose first call has come.
public struct NewInstance: Sendable {
    /// `Interface#NUMBER`.
    public let name: String
    /// The name of the module that has created it, and that alone can call it.
    public let creator: String
}

/// The instances whose last reference is gone, and that the broker isn't told of yet.
/// It is told of one at a time, so that they never take more than one of this
/// module's open requests; there are never more than instances that it may have.
struct InstanceReleases {
    private var names: [String] = []
    /// Whether the broker has still to answer about one.
    private var isAsking = false

    var isEmpty: Bool { names.isEmpty }
    var count: Int { names.count }

    mutating func add(_ name: String) { names.append(name) }

    /// The one that the broker is to be told of now; `asked` follows where it could be.
    var next: String? { isAsking ? nil : names.last }

    mutating func asked() {
        isAsking = true
        names.removeLast()
    }

    mutating func answered() { isAsking = false }

    /// Instances end with their connection.
    mutating func connectionLost() { names = [] }
}

/// An instance that this module has created, as long as it lasts: until it is
/// released, or the connection ends that it was created on.
@ModuleActor
final class InstanceLease {
    /// `Interface#NUMBER`, or the plain name of an interface that has only one.
    nonisolated let name: String
    private let isSingle: Bool
    private weak var session: Session?
    private var isReleased = false

    init(_ name: String, _ session: Session) {
        self.name = name
        isSingle = !name.utf8.contains(UInt8(ascii: "#"))
        self.session = session
    }

    /// Whether there is something to release.
    var isHeld: Bool { !isSingle && !isReleased && session?.isOpen == true }

    /// Ends it on this side.
    /// - Returns: the connection that the broker is to be told on; nil where
    ///   there is nothing to tell.
    func release() -> Session? {
        let told = isHeld ? session : nil
        isReleased = true
        return told
    }

    /// The broker could not be told.
    func keep() { isReleased = false }

    /// - Throws: `unknown-instance` where it has ended.
    func check(for what: String) throws(BusError) {
        guard !isSingle, !isHeld else { return }
        throw BusError(
            .unknownInstance,
            "\(what) was not sent: \(name) "
                + (isReleased
                    ? "has been released" : "ended with the connection that it was created on, and that was lost")
                + "; create another one with `bus.create`")
    }
}
