internal import StrataCore
internal import StrataDeriving

/// The actions, URLs, observations and events that a module offers, and the interfaces and
/// notifications that it declares to use. `Module.register` fills it in before the module connects
/// to the bus.
@ModuleActor
public struct Exports {
    /// Starts a handler. The header and the body are valid during the call.
    typealias Start = @ModuleActor (IncomingCall, borrowing Header, UnsafeRawBufferPointer) -> Void

    struct ActionExport {
        var auth: Bool
        /// The action's contract; nil if it has none.
        var member: (any InterfaceMember.Type)?
        /// Whether it answers in parts.
        var isStream = false
        /// The most descriptors that it takes and gives; nil for none.
        var descriptors: DescriptorCounts?
        var start: Start
    }

    struct InterfaceExport {
        var name: String
        /// The interface's contract; nil if only its name is known.
        var type: (any Interface.Type)?
        /// Whether each user creates instances of its own.
        var hasInstances = false
        /// The names of the interface's actions, whether calls are authorized, whether they answer in
        /// parts, and their descriptors; empty if it takes any action.
        var actions: [(name: String, auth: Bool, isStream: Bool, descriptors: DescriptorCounts?)] = []
    }

    /// A notification by name, and its contract if it has one.
    struct DeclaredNotice {
        var name: String
        var type: ModuleOutline.Content?
        /// The property whose value it tells; nil for other notifications.
        var property: (any Property.Type)?
    }

    struct URLExport {
        var host: String
        var path: String
        var to: String

        /// Returns whether both URLs match the same place, by the bus's rules, wherever they lead.
        /// Hosts are compared without case, patterns decoded and without the names of bound
        /// segments.
        func isAt(_ other: URLExport) -> Bool {
            guard host.lowercased() == other.host.lowercased() else { return false }
            if path == other.path { return true }
            guard let own = try? URLPattern(path), let others = try? URLPattern(other.path) else { return false }
            return own.matchesSame(as: others)
        }

        /// Returns whether the URL leads to an action of the interface.
        func leads(to interface: InterfaceExport) -> Bool {
            Name.withoutRouterSuffix(String(to.prefix { $0 != "/" })) == interface.name
        }
    }

    /// The interfaces, in the order in which they were first named.
    private(set) var interfaces: [InterfaceExport] = []
    /// The actions by `Interface/action`. The key is `Interface#/action` for an instance's action,
    /// and `Interface/` for an interface that takes any action.
    private(set) var actions: [String: ActionExport] = [:]
    /// The objects of each interface that has instances.
    private(set) var instances: [String: any InstanceSet] = [:]
    /// The properties, whose actions are among those of their interfaces, and their broadcasts among all.
    private(set) var properties: [PropertyExport] = []
    private(set) var events: [(name: String, start: Start)] = []
    private(set) var urls: [URLExport] = []
    private(set) var observations: [Observing] = []
    private(set) var broadcasts: [DeclaredNotice] = []
    private(set) var reports: [(target: String, notices: [DeclaredNotice])] = []
    private(set) var required: [(name: String, type: (any Interface.Type)?)] = []
    /// The topics that streams come from.
    private(set) var topics: [any EndableTopic] = []
    /// Whether the module says that it takes descriptors.
    var takesDescriptors = false
    /// The settings that the module declares, and what takes changed ones; nil if it declares none.
    var declaredSettings: SettingsExport?

    init() {}

    /// Adds an action.
    /// - Parameter member: The action's contract; nil if it has none.
    mutating func add(
        _ name: ActionName, of member: (any InterfaceMember.Type)? = nil, auth: Bool, isStream: Bool = false,
        descriptors: DescriptorCounts? = nil, start: @escaping Start
    ) {
        let interface = Name.withoutRouterSuffix(name.interface)
        precondition(
            instances[interface] == nil,
            "\(name) is exported beside the instances of \(interface): list it with their actions")
        if descriptors != nil { takesDescriptors = true }
        let export = ActionExport(
            auth: auth, member: member, isStream: isStream, descriptors: descriptors, start: start)
        add("\(interface)/\(name.action)", interface, name.owner, name.action, export)
    }

    /// Adds an interface whose instances each user creates.
    mutating func add(
        instances interface: String, of type: (any Interface.Type)?, _ objects: any InstanceSet,
        _ list: [(name: String, export: ActionExport)]
    ) {
        precondition(
            !interfaces.contains { $0.name == interface }, "\(interface) is exported twice: export it once")
        for action in list { add("\(interface)#/\(action.name)", interface, type, action.name, action.export) }
        interfaces[interfaces.count - 1].hasInstances = true
        instances[interface] = objects
    }

    private mutating func add(
        _ key: String, _ interface: String, _ type: (any Interface.Type)?, _ action: String, _ export: ActionExport
    ) {
        precondition(actions[key] == nil, "the action \(key) is exported twice: export it once")
        precondition(
            Name.isInterface(interface) && (action.isEmpty || Name.isAction(action)),
            "\(key) is not an action's name: write Interface/action, with letters, digits, dots, - and _")
        actions[key] = export
        let index = provide(interface, type)
        if !action.isEmpty {
            interfaces[index].actions.append((action, export.auth, export.isStream, export.descriptors))
        }
    }

    private mutating func provide(_ interface: String, _ type: (any Interface.Type)?) -> Int {
        if let index = interfaces.firstIndex(where: { $0.name == interface }) {
            if interfaces[index].type == nil { interfaces[index].type = type }
            return index
        }
        interfaces.append(InterfaceExport(name: interface, type: type))
        return interfaces.count - 1
    }

    /// Returns the action that a call goes to.
    func action(for destination: String) -> ActionExport? {
        if let action = actions[destination] { return action }
        guard let slash = destination.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        if let mark = destination[..<slash].utf8.firstIndex(of: UInt8(ascii: "#")) {
            return actions["\(destination[...mark])\(destination[slash...])"]
        }
        return actions[String(destination[...slash])]
    }

    /// Merges an offer that was made at run time.
    mutating func merge(_ later: Exports) {
        for interface in later.interfaces {
            let index = provide(interface.name, interface.type)
            let names = Set(interface.actions.map(\.name))
            interfaces[index].hasInstances = interface.hasInstances
            interfaces[index].actions.removeAll { names.contains($0.name) }
            interfaces[index].actions += interface.actions
        }
        actions.merge(later.actions) { $1 }
        instances.merge(later.instances) { $1 }
        topics += later.topics
        urls.removeAll { url in later.urls.contains { $0.isAt(url) } }
        urls += later.urls
    }

    /// Adds a property, whose actions are added already.
    mutating func add(_ property: PropertyExport, of type: (any Property.Type)?) {
        properties.append(property)
        broadcasts.append(DeclaredNotice(name: property.name.notice, type: property.outline.value, property: type))
    }

    mutating func add(_ topic: any EndableTopic) { topics.append(topic) }
    mutating func add(_ url: URLExport) { urls.append(url) }
    mutating func add(_ observing: Observing) { observations.append(observing) }

    mutating func add(event name: String, start: @escaping Start) {
        precondition(!events.contains { $0.name == name }, "the event \(name) is exported twice: export it once")
        events.append((name, start))
    }

    // MARK: Declarations

    /// Declares that this module calls an interface, in the version that it was built with.
    public mutating func requires(_ interface: any Interface.Type) { required.append((interface.name, interface)) }

    /// Declares that this module calls an interface, by name, in any version.
    public mutating func requires(_ interface: String) { required.append((interface, nil)) }

    /// Declares that this module broadcasts a notification. It informs readers and `strata check`;
    /// under `calls: declared`, only the module's row in the manifest counts.
    public mutating func broadcasts(_ notice: any Broadcast.Type) {
        broadcasts.append(DeclaredNotice(name: notice.name, type: notice))
    }

    /// Declares that this module broadcasts a notification by name. It informs readers and `strata
    /// check`.
    public mutating func broadcasts(_ name: String) { broadcasts.append(DeclaredNotice(name: name)) }

    /// Declares that this module reports a notification. It informs readers and `strata check`;
    /// under `calls: declared`, only the module's row in the manifest counts.
    public mutating func reports(_ notice: any Report.Type, to module: String) {
        add(report: DeclaredNotice(name: notice.name, type: notice), to: module)
    }

    /// Declares that this module reports a notification by name. It informs readers and `strata
    /// check`.
    public mutating func reports(_ name: String, to module: String) {
        add(report: DeclaredNotice(name: name), to: module)
    }

    private mutating func add(report notice: DeclaredNotice, to module: String) {
        if let index = reports.firstIndex(where: { $0.target == module }) {
            reports[index].notices.append(notice)
        } else {
            reports.append((module, [notice]))
        }
    }
}

extension ActionName {
    /// Splits `Interface/action`.
    init(splitting destination: String) {
        let parts = destination.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        precondition(parts.count == 2, "\(destination) is not an action: write Interface/action")
        self.init(interface: String(parts[0]), action: String(parts[1]))
    }
}

extension Exports {
    /// Returns these exports merged with a later offer. Further actions are added to their
    /// interface; an action or a URL that is offered again is replaced.
    func merged(with later: Exports) -> Exports {
        var merged = self
        merged.merge(later)
        return merged
    }

    /// Returns why an offer can't be made at run time; nil if it can.
    func refusal(of later: Exports) -> BusError? {
        guard later.observations.isEmpty, later.events.isEmpty, later.broadcasts.isEmpty, later.reports.isEmpty,
            later.required.isEmpty, later.declaredSettings == nil
        else {
            return BusError(
                .badParams,
                "bus/register takes interfaces, actions and URLs only: observe with `bus.observe`, and say the rest in "
                    + "`Module.register`")
        }
        guard takesDescriptors || !later.takesDescriptors else {
            return BusError(
                .badParams,
                "an action with descriptors needs a hello that says so: say `exports.usesDescriptors()` in "
                    + "`Module.register`")
        }
        for interface in later.interfaces {
            let known = interfaces.first { $0.name == interface.name }
            guard known == nil || !(interface.hasInstances || known?.hasInstances == true) else {
                return BusError(
                    .badParams,
                    "\(interface.name) is offered already, and an interface with instances can't be added to: end "
                        + "that registration first, or choose another name")
            }
        }
        return nil
    }

    /// Returns why a broker can't take these exports: one without `rest-urls` would take each star of
    /// a URL as literal, so nothing would match, and one without `descriptors` would lose them.
    /// - Parameter hello: The broker's answer to hello.
    func refusal(byBrokerThatSaid hello: JSON) -> BusError? {
        func lacks(_ feature: String) -> Bool { hello["features"]?.array?.contains(.string(feature)) != true }
        if takesDescriptors, lacks(BrokerFeature.descriptors) {
            return BusError(
                .badVersion,
                "this module uses descriptors, which need a broker with the feature \(BrokerFeature.descriptors), and "
                    + "this older one lacks it: replace the broker")
        }
        guard lacks(BrokerFeature.restURLs),
            let url = urls.first(where: { $0.host == URLTable<Void>.anyHost || $0.path.contains("/*") })
        else { return nil }
        return BusError(
            .badVersion,
            "the URL \(url.host)\(url.path) needs a broker with the feature \(BrokerFeature.restURLs), which this "
                + "older one lacks: replace the broker, or map the URL without a star")
    }

    /// Returns why a registration can't end and leave only these exports; nil if it can. It can't
    /// if a remaining URL leads to an interface that would disappear: the bus would remove the URL,
    /// too.
    /// - Parameter ended: The registration's exports.
    func refusal(afterEndOf ended: Exports) -> BusError? {
        let gone = ended.interfaces.filter { interface in !interfaces.contains { $0.name == interface.name } }
        guard let url = urls.first(where: { url in gone.contains { url.leads(to: $0) } }) else { return nil }
        return BusError(
            .badParams,
            "the URL \(url.host)\(url.path) of another registration leads to \(url.to), which this would end: end "
                + "that registration first")
    }

    /// Returns the offer as `bus/register` and `bus/unregister` take it.
    func offer(interfaces names: Set<String>, urls: [URLExport]) -> JSON {
        let named = interfaces.filter { names.contains($0.name) }
        return [
            "interfaces": .object(named.map { JSON.Member(Name.said($0.name), $0.json) }),
            "urls": .array(urls.map(\.json)),
        ]
    }
}
