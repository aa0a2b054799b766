internal import StrataCore
internal import StrataDeriving

/// The module's observations in the order of hello's list, and the broker's numbers for them on the
/// current connection.
@ModuleActor
struct Observations {
    private(set) var all: [Observing] = []
    private var byNumber: [Int64: Observing] = [:]

    init(_ all: [Observing] = []) { self.all = all }

    /// Returns the observation that a notice is for; nil if it has just been ended.
    subscript(number: Int64) -> Observing? { byNumber[number] }

    func contains(_ observing: Observing) -> Bool { all.contains { $0 === observing } }

    mutating func add(_ observing: Observing) { all.append(observing) }

    /// Records the number that the broker answered with, unless the observation has ended
    /// meanwhile.
    mutating func subscribed(_ observing: Observing, _ number: Int64?) {
        guard let number, contains(observing) else { return }
        byNumber[number] = observing
    }

    /// Removes an observation.
    /// - Returns: Its number, for the broker; nil if it has none.
    mutating func remove(_ observing: Observing) -> Int64? {
        all.removeAll { $0 === observing }
        guard let number = byNumber.first(where: { $0.value === observing })?.key else { return nil }
        byNumber[number] = nil
        return number
    }

    /// Forgets the numbers: every observation is declared again on the next connection.
    mutating func connectionLost() { byNumber = [:] }
}

/// One observation of this module. It survives a change of connection.
@ModuleActor
final class Observing {
    /// The notification's name, or a pattern of names.
    let name: String
    /// The type of the content; nil if it has none.
    let type: ModuleOutline.Content?
    let object: String?
    let keep: Keep
    /// Whether one replica of the module's row gets each broadcast.
    let share: Bool
    let handle: @ModuleActor (Delivery) async throws -> Void

    init(
        _ name: String, of type: ModuleOutline.Content? = nil, object: String?, keep: Keep, share: Bool = false,
        handle: @escaping @ModuleActor (Delivery) async throws -> Void
    ) {
        self.name = name
        self.type = type
        self.object = object
        self.keep = keep
        self.share = share
        self.handle = handle
    }

    /// The observation as hello and `bus/observe` take it.
    var json: JSON {
        var members = [JSON.Member(NamePattern.isPattern(name) ? "pattern" : "name", .string(name))]
        if let object { members.append(JSON.Member("object", .string(object))) }
        if share { members.append(JSON.Member("share", true)) }
        if keep != .all { members.append(JSON.Member("keep", .string(keep.rawValue))) }
        return .object(members)
    }
}
