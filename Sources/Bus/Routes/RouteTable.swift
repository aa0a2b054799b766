import StrataCore

/// The modules that own the interfaces and URLs. It also caches where each `to` leads, so that a
/// call costs one look-up of its bytes.
struct RouteTable: ~Copyable {
    /// The destination of a `to`.
    final class Route {
        /// `Interface/action` or `Interface#N/action`, as the owner sees it.
        let to: [UInt8]
        let interface: InterfaceRecord
        let owner: ModuleRecord
        let action: [UInt8]
        /// The number of `Interface/action`, without an instance, in `ActionNames`.
        let actionNumber: UInt32
        let instance: UInt64?
        let needsAuthorization: Bool
        /// Whether a call needs checks beyond those for a plain action of a live interface.
        let needsCheck: Bool
        /// The interface that the caller named, if an adapter leads from it to another one.
        let required: String?
        /// How an adapter renames members; nil if none does.
        let adaptation: AdapterTable.Adaptation?
        /// The most descriptors that a reply may have.
        let mostReplied: UInt8
        /// Whether a call keeps something of the route for its replies.
        let marksCalls: Bool

        /// - Parameters:
        ///   - isQuarantined: whether the action was quarantined, and may still be.
        ///   - isUnknownAction: whether the owner lists its actions and this isn't one of them.
        init(
            to: [UInt8], interface: InterfaceRecord, action: [UInt8], actionNumber: UInt32, instance: UInt64?,
            isQuarantined: Bool, isUnknownAction: Bool, needsAuthorization: Bool, mostReplied: UInt8 = 0,
            required: String? = nil, adaptation: AdapterTable.Adaptation? = nil
        ) {
            self.mostReplied = mostReplied
            marksCalls = adaptation != nil || mostReplied > 0
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

    /// The result of resolving a `to`.
    enum Resolution {
        case route(Route)
        /// One of the bus's own names: `bus/…`, `module/…`, `launcher/…`, `operator/…`.
        /// - Parameter hasInstance: whether an instance number is present; none of these has
        ///   instances.
        case reserved(interface: String, action: String, hasInstance: Bool)
        case unknown(interface: String)
        case malformed
    }

    /// The most cached routes; at this number, all are forgotten.
    private static let mostRoutes = 4_096
    /// The length of a `to` with the longest names and number, in bytes. A longer one leads to no
    /// instance, so it isn't cached.
    private static let longestKept = 160

    private var routes = ByteTable<Route>()
    private var interfaces = ByteTable<InterfaceRecord>()
    /// All interfaces by name, kept sorted because sorting many takes long.
    private(set) var allInterfaces: [InterfaceRecord] = []
    /// Routes and interfaces that were removed in this round of the loop.
    private var spent: [AnyObject] = []
    var urls = URLTable<URLTarget>()
    var actionNames = ActionNames()

    /// Returns the cached route of a `to`. Unretained, because everything found here in a round of
    /// the loop lives until the round's end.
    @inline(__always)
    func route(_ to: UnsafeRawBufferPointer) -> Unmanaged<Route>? { routes.findUnretained(to) }

    /// Whether a `to` names an action of the bus itself.
    func isOfBus(_ to: UnsafeRawBufferPointer) -> Bool {
        Destination(to).map { UnsafeRawBufferPointer(rebasing: to[$0.interface]).equals("bus") } ?? false
    }

    /// Resolves a `to` that isn't cached, and caches its route if it leads to an interface.
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

    /// Resolves a required interface from which an adapter leads to another one.
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

    /// Makes a route and caches it.
    private mutating func makeRoute(
        _ to: UnsafeRawBufferPointer, _ destination: Destination, _ interface: InterfaceRecord, _ action: [UInt8],
        _ required: String?, _ adaptation: AdapterTable.Adaptation?
    ) -> Route {
        var canonical = interface.nameBytes
        var instance: UInt64?
        if let digits = destination.instance {
            canonical += [UInt8(ascii: "#")] + to[digits]
            // 0 is no instance's number, so the call is refused later.
            instance = Name.instanceNumber(UnsafeRawBufferPointer(rebasing: to[digits])) ?? 0
        }
        canonical += [UInt8(ascii: "/")] + action
        let listed = action.withUnsafeBytes { interface.action($0) }
        let name = Self.name(interface, action)
        let route = Route(
            to: canonical, interface: interface, action: action, actionNumber: actionNames.number(of: name),
            instance: instance, isQuarantined: interface.owner.history.deaths.mayBeQuarantined(name),
            isUnknownAction: interface.actions != nil && listed == nil,
            needsAuthorization: listed?.needsAuthorization ?? false, mostReplied: listed?.descriptors.reply ?? 0,
            required: required, adaptation: adaptation)
        // Kept until the round's end, because callers use routes unretained.
        if to.count > Self.longestKept {
            spent.append(route)
        } else {
            if routes.count >= Self.mostRoutes { forgetRoutes() }
            routes.set(to, route)
        }
        return route
    }

    /// Returns the number of an action, for a call that has no route.
    mutating func actionNumber(_ interface: InterfaceRecord, _ action: [UInt8]) -> UInt32 {
        actionNames.number(of: Self.name(interface, action))
    }

    private static func name(_ interface: InterfaceRecord, _ action: [UInt8]) -> String {
        "\(interface.name)/\(String(decoding: action, as: UTF8.self))"
    }

    func interface(_ name: String) -> InterfaceRecord? { interfaces.find(name) }
    func interface(_ name: UnsafeRawBufferPointer) -> InterfaceRecord? { interfaces.find(name) }

    /// Returns the target of an equal URL; nil if it isn't mapped.
    func target(_ url: Hello.URL) -> URLTarget? { urls.value(of: url.pattern, host: url.host) }

    mutating func add(_ interface: InterfaceRecord) {
        let place = place(of: interface.name)
        // Code in this round may still use the old record unretained.
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

    /// Forgets the cached routes, after something about an interface has changed.
    mutating func forgetRoutes() {
        guard routes.count > 0 else { return }
        // Code in this round may still use them unretained.
        routes.forEach { spent.append($0) }
        routes.removeAll()
    }

    /// Frees what was removed in the round that has ended: no code uses it any more.
    mutating func dropSpent() {
        if !spent.isEmpty { spent.removeAll() }
    }

    /// Returns interface names next to a name in alphabetical order, the nearest first.
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

    /// Returns the index at which an interface with this name is, or would be.
    private func place(of name: String) -> Int { allInterfaces.place { $0.name < name } }
}
