import StrataCore

/// An interface that a row provides, or that a live module has registered.
final class InterfaceRecord {
    let name: String
    let nameBytes: [UInt8]
    let owner: ModuleRecord
    /// Whether the owner's row provides it, which reserves it for the owner even without a session.
    var isDeclared: Bool
    /// Whether the owner's session provides it.
    var isLive = false
    var instances = Instances.single
    /// The version of its contract, as the session said; nil without a session, or if it didn't.
    var version: ContractVersion?
    /// The listed actions; nil if none are listed. Then every action is accepted, without
    /// authorization.
    var actions: [Action]? { didSet { places = nil } }
    /// The places of the actions by name, made at the first look-up if there are many actions.
    private var places: [[UInt8]: Int]?
    /// The number of its name in what `bus/traffic` counts.
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var textSlot = TextSlot()

    enum Instances: String { case single, multiple }

    struct Action {
        var name = ""
        var nameBytes: [UInt8] = []
        var needsAuthorization = false
        /// Whether it answers in parts, as its module says.
        var isStream = false
        /// The most descriptors that its calls and its replies have.
        var descriptors = DescriptorTerms()
    }

    /// The most descriptors that an action takes with a call, and gives with its reply.
    struct DescriptorTerms: Equatable {
        var params: UInt8 = 0
        var reply: UInt8 = 0

        /// Their form in `bus/interfaces`; nil for none.
        var json: JSON? {
            self == Self() ? nil : ["params": JSON(Int(params)), "reply": JSON(Int(reply))]
        }
    }

    init(name: String, owner: ModuleRecord, isDeclared: Bool) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.owner = owner
        self.isDeclared = isDeclared
    }

    /// The most actions that are searched one by one; more are found by their places.
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

/// The action that a URL leads to.
final class URLTarget {
    let host: String
    let pattern: URLPattern
    let interface: String
    let action: String
    let owner: ModuleRecord
    /// The mapping in the owner's row; nil if the row doesn't map it.
    var declared: Hello.URL?
    /// Whether the owner's session registered it.
    var isLive: Bool
    /// The number of its host and pattern in what `bus/traffic` counts.
    var textSlot = TextSlot()

    init(_ url: Hello.URL, owner: ModuleRecord, declared: Hello.URL?, isLive: Bool) {
        host = url.host
        pattern = url.pattern
        interface = url.interface
        action = url.action
        self.owner = owner
        self.declared = declared
        self.isLive = isLive
    }

    /// Whether the owner's row maps it, which reserves it for the owner.
    var isDeclared: Bool { declared != nil }

    /// Whether other apps may open it. The row decides that, for the action that it names: a session
    /// that maps the same pattern to another action makes no action public.
    var isPublic: Bool {
        declared.map { $0.isPublic && $0.interface == interface && $0.action == action } ?? false
    }

    var to: String { "\(interface)/\(action)" }
}

/// Numbers for the names of actions and reports, so that each open request can record its own in
/// four bytes. The names themselves are needed only when a module dies, a request fails, or an
/// operator asks what is open.
///
/// Callers may keep asking for new names of interfaces that list no actions. When `isFull`, the
/// bus, which knows the open calls, removes the names of all others (`keep`).
struct ActionNames {
    /// The number of names that are kept before those of ended calls are removed.
    static let fewest = 8_192
    /// The number that stands for no action.
    static let none: UInt32 = 0

    /// The names; a name's number is its index plus 1. Empty if the number is free.
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

    /// Returns the name of a number; nil for `none` and for a removed number.
    func name(_ number: UInt32) -> String? {
        guard number != Self.none, number <= names.count else { return nil }
        let name = names[Int(number) - 1]
        return name.isEmpty ? nil : name
    }

    /// Removes all names but those in use, and reuses their numbers. The next removal comes when
    /// the number of names has doubled, so removals stay rare.
    mutating func keep(_ used: Set<UInt32>) {
        for (name, number) in numbers where !used.contains(number) {
            numbers[name] = nil
            names[Int(number) - 1] = ""
            free.append(number)
        }
        most = max(Self.fewest, 2 * numbers.count)
    }
}
