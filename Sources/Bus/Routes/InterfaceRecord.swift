import StrataCore

/// An interface that a row provides, or that a live module has registered.
final class InterfaceRecord {
    let name: String
    let nameBytes: [UInt8]
    let owner: ModuleRecord
    /// Whether the owner's row provides it: it is the owner's alone, live or not.
    var isDeclared: Bool
    /// Whether the owner's session has it.
    var isLive = false
    var instances = Instances.single
    /// Nil where none are listed: then all pass, as `auth: false`.
    var actions: [Action]? { didSet { places = nil } }
    /// The actions' places by name; made when many are looked through for the first time.
    private var places: [[UInt8]: Int]?

    enum Instances: String { case single, multiple }

    struct Action {
        var name = ""
        var nameBytes: [UInt8] = []
        var needsAuthorization = false
    }

    init(name: String, owner: ModuleRecord, isDeclared: Bool) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.owner = owner
        self.isDeclared = isDeclared
    }

    /// More actions than these are found by their places.
    private static let fewActions = 16

    func action(_ name: UnsafeRawBufferPointer) -> Action? {
        guard let actions else { return nil }
        guard actions.count > Self.fewActions else {
            return actions.first { $0.nameBytes.count == name.count && $0.nameBytes.elementsEqual(name) }
        }
        if places == nil {
            places = Dictionary(
                actions.enumerated().map { ($1.nameBytes, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return places?[Array(name)].map { actions[$0] }
    }
}

/// Where a URL leads.
final class URLTarget {
    let host: String
    let pattern: URLPattern
    let interface: String
    let action: String
    let owner: ModuleRecord
    /// What the owner's row maps it to; nil where the row doesn't name it.
    var declared: Hello.URL?
    /// Whether the owner's session has brought it.
    var isLive: Bool

    init(_ url: Hello.URL, owner: ModuleRecord, declared: Hello.URL?, isLive: Bool) {
        host = url.host
        pattern = url.pattern
        interface = url.interface
        action = url.action
        self.owner = owner
        self.declared = declared
        self.isLive = isLive
    }

    /// Whether the owner's row maps it: it is the owner's alone.
    var isDeclared: Bool { declared != nil }

    var to: String { "\(interface)/\(action)" }
}

/// Numbers for the names of actions, so that each open call can say which one it
/// is of at the cost of storing four bytes. The names are only wanted where a
/// module dies.
///
/// Callers may ask for ever new names of interfaces that list no actions: when
/// `isFull`, whoever knows the open calls lets all others' names go (`keep`).
struct ActionNames {
    /// So many names are kept before those of ended calls are let go.
    static let fewest = 8_192
    /// The number of what is no action.
    static let none: UInt32 = 0

    /// By number, which is one more than the place; empty where it is free.
    private var names: [String] = []
    private var numbers: [String: UInt32] = [:]
    private var free: [UInt32] = []
    private var most = fewest

    var isFull: Bool { numbers.count >= most }

    /// - Parameter name: `Interface/action`.
    mutating func number(of name: String) -> UInt32 {
        if let known = numbers[name] { return known }
        let number: UInt32
        if let again = free.popLast() {
            number = again
            names[Int(again) - 1] = name
        } else {
            names.append(name)
            number = UInt32(names.count)
        }
        numbers[name] = number
        return number
    }

    /// Nil for `none`, and for a number that was let go.
    func name(_ number: UInt32) -> String? {
        guard number != Self.none, number <= names.count else { return nil }
        let name = names[Int(number) - 1]
        return name.isEmpty ? nil : name
    }

    /// Lets all other names go; their numbers are used again. The next time comes
    /// when as many more have come as are kept, so that it stays rare.
    mutating func keep(_ used: Set<UInt32>) {
        for (name, number) in numbers where !used.contains(number) {
            numbers[name] = nil
            names[Int(number) - 1] = ""
            free.append(number)
        }
        most = max(Self.fewest, 2 * numbers.count)
    }
}
