import StrataCore

/// Which module owns which interface and URL, and, for each `to` that callers
/// have written, where it leads: so that a call costs one look-up of its bytes.
struct RouteTable: ~Copyable {
    /// What a `to` leads to.
    final class Route {
        /// `Interface/action` or `Interface#N/action`, as the owner sees it.
        let to: [UInt8]
        let interface: InterfaceRecord
        let owner: ModuleRecord
        let action: [UInt8]
        /// `Interface/action` without an instance, as `ActionNames` numbers it.
        let actionNumber: UInt32
        let instance: UInt64?
        let needsAuthorization: Bool
        /// Whether something is to be judged that a plain action of a live
        /// interface leaves out.
        let needsCheck: Bool
        /// The interface that the caller named, where an adapter leads on.
        let required: String?
        /// Nil where no adapter renames members.
        let adaptation: AdapterTable.Adaptation?

        /// - Parameters:
        ///   - isQuarantined: whether its owner died of it so often that it may be quarantined.
        ///   - isUnknownAction: whether the owner listed its actions and this is none of them.
        init(
            to: [UInt8], interface: InterfaceRecord, action: [UInt8], actionNumber: UInt32, instance: UInt64?,
            isQuarantined: Bool, isUnknownAction: Bool, needsAuthorization: Bool, required: String? = nil,
            adaptation: AdapterTable.Adaptation? = nil
        ) {
            needsCheck =
                isQuarantined || isUnknownAction || instance != nil || interface.instances == .multiple
                || !interface.isLive
            self.required = required
            self.adaptation = adaptation
            self.to = to
            self.interface = interface
            owner = interface.owner
            self.action = action
            self.actionNumber = actionNumber
            self.instance = instance
            self.needsAuthorization = needsAuthorization
        }
    }

    /// A `to` that is the bus's own affair, or nobody's.
    enum Resolution {
        case route(Route)
        /// `bus/…`, `module/…`, `launcher/…`, `operator/…`.
        /// - Parameter hasInstance: whether digits are there: none of these has instances.
        case reserved(interface: String, action: String, hasInstance: Bool)
        case unknown(interface: String)
        case malformed
    }

    /// Routes that are remembered; when as many are, all are forgotten.
    private static let mostRoutes = 4_096
    /// So long is a `to` with the longest names and number, in bytes: what is longer leads to
    /// no instance.
    private static let longestKept = 160

    private var routes = ByteTable<Route>()
    private var interfaces = ByteTable<InterfaceRecord>()
    /// All interfaces, by name: kept so, since to sort many takes long.
    private(set) var allInterfaces: [InterfaceRecord] = []
    /// Routes and interfaces that were let go of in this round of the loop.
    private var spent: [AnyObject] = []
    var urls = URLTable<URLTarget>()
    var actionNames = ActionNames()

    /// The remembered route of a `to`. Unretained, because all that was found
    /// here in a round of the loop lives until its end.
    @inline(__always)
    func route(_ to: UnsafeRawBufferPointer) -> Unmanaged<Route>? { routes.findUnretained(to) }

    /// Judges a `to` that isn't remembered, and remembers it where it leads
    /// somewhere.
    mutating func resolve(_ to: UnsafeRawBufferPointer, _ adapters: AdapterTable) -> Resolution {
        guard let destination = Destination(to) else { return .malformed }
        let name = UnsafeRawBufferPointer(rebasing: to[destination.interface])
        let action = UnsafeRawBufferPointer(rebasing: to[destination.action])
        if Name.isReserved(name) {
            return .reserved(interface: name.text, action: action.text, hasInstance: destination.instance != nil)
        }
        guard let interface = interfaces.find(name) else {
            return resolveAdapted(to, destination, name.text, action.text, adapters)
        }
        return .route(makeRoute(to, destination, interface, Array(action), nil, nil))
    }

    /// A required interface that an adapter leads on from.
    private mutating func resolveAdapted(
        _ to: UnsafeRawBufferPointer, _ destination: Destination, _ name: String, _ action: String,
        _ adapters: AdapterTable
    ) -> Resolution {
        guard let target = adapters.target(name, action, isProvided: { interfaces.find($0) != nil }),
            let interface = interfaces.find(target.interface)
        else { return .unknown(interface: name) }
        let adaptation = target.adaptation
        let renames = !adaptation.params.isEmpty || !adaptation.result.isEmpty
        return .route(
            makeRoute(to, destination, interface, Array(target.action.utf8), name, renames ? adaptation : nil))
    }

    /// Makes a route, and remembers it.
    private mutating func makeRoute(
        _ to: UnsafeRawBufferPointer, _ destination: Destination, _ interface: InterfaceRecord, _ action: [UInt8],
        _ required: String?, _ adaptation: AdapterTable.Adaptation?
    ) -> Route {
        var canonical = interface.nameBytes
        var instance: UInt64?
        if let digits = destination.instance {
            canonical += [UInt8(ascii: "#")] + to[digits]
            instance = Name.instanceNumber(UnsafeRawBufferPointer(rebasing: to[digits])) ?? 0
        }
        canonical += [UInt8(ascii: "/")] + action
        let listed = action.withUnsafeBytes { interface.action($0) }
        let name = Self.name(interface, action)
        let route = Route(
            to: canonical, interface: interface, action: action, actionNumber: actionNames.number(of: name),
            instance: instance, isQuarantined: interface.owner.history.deaths.mayBeQuarantined(name),
            isUnknownAction: interface.actions != nil && listed == nil,
            needsAuthorization: listed?.needsAuthorization ?? false, required: required, adaptation: adaptation)
        if to.count > Self.longestKept {
            spent.append(route)
        } else {
            if routes.count >= Self.mostRoutes { forgetRoutes() }
            routes.set(to, route)
        }
        return route
    }

    /// The number of an action, for a call that comes without a route of its own.
    mutating func actionNumber(_ interface: InterfaceRecord, _ action: [UInt8]) -> UInt32 {
        actionNames.number(of: Self.name(interface, action))
    }

    private static func name(_ interface: InterfaceRecord, _ action: [UInt8]) -> String {
        "\(interface.name)/\(String(decoding: action, as: UTF8.self))"
    }

    func interface(_ name: String) -> InterfaceRecord? { interfaces.find(name) }
    func interface(_ name: UnsafeRawBufferPointer) -> InterfaceRecord? { interfaces.find(name) }

    /// What a URL that may be mapped leads to now.
    func target(_ url: Hello.URL) -> URLTarget? { urls.value(of: url.pattern, host: url.host) }

    mutating func add(_ interface: InterfaceRecord) {
        let place = place(of: interface.name)
        if let replaced = interfaces.find(interface.name) {
            spent.append(replaced)
            allInterfaces[place] = interface
        } else {
            allInterfaces.insert(interface, at: place)
        }
        interfaces.set(interface.name, interface)
        forgetRoutes()
    }

    mutating func remove(_ interface: InterfaceRecord) {
        spent.append(interface)
        if interfaces.find(interface.name) != nil { allInterfaces.remove(at: place(of: interface.name)) }
        interfaces.remove(interface.name)
        forgetRoutes()
    }

    /// After anything about an interface has changed.
    mutating func forgetRoutes() {
        guard routes.count > 0 else { return }
        routes.forEach { spent.append($0) }
        routes.removeAll()
    }

    /// The round has ended: nobody uses any more what was found in it.
    mutating func dropSpent() {
        if !spent.isEmpty { spent.removeAll() }
    }

    /// The names of interfaces that stand around one in the alphabet, the next ones first.
    func interfaceNames(around name: String, most: Int) -> [String] {
        var names: [String] = []
        var after = place(of: name)
        var before = after - 1
        while names.count < most, before >= 0 || after < allInterfaces.count {
            if after < allInterfaces.count { names.append(allInterfaces[after].name) }
            if before >= 0 { names.append(allInterfaces[before].name) }
            (before, after) = (before - 1, after + 1)
        }
        return names
    }

    /// Where an interface of a name stands, or would.
    private func place(of name: String) -> Int { allInterfaces.place { $0.name < name } }
}
