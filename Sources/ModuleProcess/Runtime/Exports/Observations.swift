internal import StrataCore

/// What a module observes, in the order of hello's list, and the broker's numbers
/// for it on the present connection.
@ModuleActor
struct Observations {
    private(set) var all: [Observing] = []
    private var byNumber: [Int64: Observing] = [:]

    init(_ all: [Observing] = []) { self.all = all }

    /// Which one a notice is for; nil where it was just given up.
    subscript(number: Int64) -> Observing? { byNumber[number] }

    func contains(_ observing: Observing) -> Bool { all.contains { $0 === observing } }

    mutating func add(_ observing: Observing) { all.append(observing) }

    /// The broker has answered; one may have been given up meanwhile.
    mutating func subscribed(_ observing: Observing, _ number: Int64?) {
        guard let number, contains(observing) else { return }
        byNumber[number] = observing
    }

    /// It is given up.
    /// - Returns: its number, which the broker is to be told; nil where it has none.
    mutating func remove(_ observing: Observing) -> Int64? {
        all.removeAll { $0 === observing }
        guard let number = byNumber.first(where: { $0.value === observing })?.key else { return nil }
        byNumber[number] = nil
        return number
    }

    /// All are declared anew on the next connection.
    mutating func connectionLost() { byNumber = [:] }
}

/// One observation of this module's, whichever connection it is declared on.
@ModuleActor
final class Observing {
    let name: String
    let object: String?
    let keep: Keep
    let handle: @ModuleActor (Delivery) async throws -> Void

    init(
        _ name: String, object: String?, keep: Keep, handle: @escaping @ModuleActor (Delivery) async throws -> Void
    ) {
        self.name = name
        self.object = object
        self.keep = keep
        self.handle = handle
    }

    /// As hello and `bus/observe` take it.
    var json: JSON {
        var members = [JSON.Member("name", .string(name))]
        if let object { members.append(JSON.Member("object", .string(object))) }
        if keep != .all { members.append(JSON.Member("keep", .string(keep.rawValue))) }
        return .object(members)
    }
}
