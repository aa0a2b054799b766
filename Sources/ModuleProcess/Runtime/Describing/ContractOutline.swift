internal import StrataCore

/// What a module exports and declares, as far as contracts say it: names and types. Nothing is derived
/// of them yet. It can be sent to another thread.
struct ContractOutline: Sendable {
    struct Provided: Sendable {
        var name: String
        var type: (any Interface.Type)?
        var hasInstances: Bool
        var actions: [Action]
    }

    struct Action: Sendable {
        var name: String
        var auth: Bool
        /// Nil if it has no contract.
        var member: (any InterfaceMember.Type)?
    }

    struct Notice: Sendable {
        var name: String
        /// Nil if it has no contract.
        var type: (any Strata.Notice.Type)?
    }

    let module: String
    /// The module's own type.
    let type: any Module.Type
    let provided: [Provided]
    let required: [any Interface.Type]
    let broadcasts: [Notice]
    let reports: [Notice]
    let observes: [Notice]

    @ModuleActor
    init(_ module: String, _ type: any Module.Type, _ exports: Exports, _ observations: [Observing]) {
        self.module = module
        self.type = type
        // The actions of an interface that takes any aren't known.
        provided = exports.interfaces.filter { !$0.actions.isEmpty }.map { interface in
            let mark = interface.hasInstances ? "#" : ""
            return Provided(
                name: interface.name, type: interface.type, hasInstances: interface.hasInstances,
                actions: interface.actions.map { action in
                    let export = exports.actions["\(interface.name)\(mark)/\(action.name)"]
                    return Action(name: action.name, auth: action.auth, member: export?.member)
                })
        }
        required = Self.unique(exports.required.compactMap(\.type)) { Name.withoutRouterSuffix($0.name) }
        broadcasts = Self.notices(exports.broadcasts.map { Notice(name: $0.name, type: $0.type) })
        reports = Self.notices(exports.reports.flatMap(\.notices).map { Notice(name: $0.name, type: $0.type) })
        observes = Self.notices(observations.map { Notice(name: $0.name, type: $0.type) })
    }

    /// Returns each name once, with a type if there is one.
    private static func notices(_ notices: [Notice]) -> [Notice] {
        unique(notices.filter { $0.type != nil } + notices.filter { $0.type == nil }, by: \.name)
    }

    /// Returns the first element of each name, sorted by their names.
    private static func unique<Element>(_ elements: [Element], by name: (Element) -> String) -> [Element] {
        var first: [String: Element] = [:]
        for element in elements where first[name(element)] == nil { first[name(element)] = element }
        return first.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
    }
}
