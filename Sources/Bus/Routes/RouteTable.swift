import StrataCore

/// Which module owns which interface and URL, and, for each `to` that callers
/// have written, where it leads: so that a call costs one look-up of its bytes.
struct RouteTable: ~Copyable {
    /// What a `to` leads to.
    final class Route {
        /// `Interface/action` or `Interface#N/action`, as the owner sees it.
        let to: [UInt8]
        let interface: InterfaceRecord
        let action: [UInt8]
        let instance: UInt64?
        /// Whether the owner listed its actions and this is none of them.
        let isUnknownAction: Bool
        let needsAuthorization: Bool

        init(
            to: [UInt8], interface: InterfaceRecord, action: [UInt8], instance: UInt64?,
            isUnknownAction: Bool, needsAuthorization: Bool
        ) {
            self.to = to
            self.interface = interface
            self.action = action
            self.instance = instance
            self.isUnknownAction = isUnknownAction
            self.needsAuthorization = needsAuthorization
        }
    }

    /// A `to` that is the bus's own affair, or nobody's.
    enum Resolution {
        case route(Route)
        /// `bus/…`, `module/…`, `launcher/…`, `operator/…`.
        case reserved(interface: String, action: String)
        case unknown(interface: String)
        case malformed
    }

    /// Routes that are remembered; when as many are, all are forgotten.
    private static let mostRoutes = 4_096

    private var routes = ByteTable<Route>()
    private var interfaces = ByteTable<InterfaceRecord>()
    var urls = URLTable<URLTarget>()

    init() {}

    /// The remembered route of a `to`.
    @inline(__always)
    func route(_ to: UnsafeRawBufferPointer) -> Route? { routes.find(to) }

    /// Judges a `to` that isn't remembered, and remembers it where it leads
    /// somewhere.
    mutating func resolve(_ to: UnsafeRawBufferPointer) -> Resolution {
        guard let destination = Destination(to) else { return .malformed }
        let name = UnsafeRawBufferPointer(rebasing: to[destination.interface])
        let action = UnsafeRawBufferPointer(rebasing: to[destination.action])
        if Name.isReserved(name) { return .reserved(interface: name.text, action: action.text) }
        guard let interface = interfaces.find(name) else { return .unknown(interface: name.text) }
        var canonical = Array(name)
        var instance: UInt64?
        if let digits = destination.instance {
            canonical += [UInt8(ascii: "#")] + to[digits]
            instance = Name.instanceNumber(UnsafeRawBufferPointer(rebasing: to[digits])) ?? 0
        }
        canonical += [UInt8(ascii: "/")] + action
        let listed = interface.action(action)
        let route = Route(
            to: canonical, interface: interface, action: Array(action), instance: instance,
            isUnknownAction: interface.actions != nil && listed == nil,
            needsAuthorization: listed?.needsAuthorization ?? false)
        if routes.count >= Self.mostRoutes { routes.removeAll() }
        routes.set(to, route)
        return .route(route)
    }

    func interface(_ name: String) -> InterfaceRecord? { interfaces.find(name) }

    mutating func add(_ interface: InterfaceRecord) {
        interfaces.set(interface.name, interface)
        forgetRoutes()
    }

    mutating func remove(_ interface: InterfaceRecord) {
        interfaces.remove(interface.name)
        forgetRoutes()
    }

    /// After anything about an interface has changed.
    mutating func forgetRoutes() { routes.removeAll() }

    /// All interfaces, by name.
    var allInterfaces: [InterfaceRecord] {
        var all: [InterfaceRecord] = []
        interfaces.forEach { all.append($0) }
        return all.sorted { $0.name < $1.name }
    }
}
