internal import StrataCore
internal import StrataDeriving

extension Exports {
    /// Returns what contracts say of the exports.
    func outline(_ module: String, _ type: any Module.Type, _ observations: [Observing]) throws(ContractFailure)
        -> ModuleOutline
    {
        var outline = ModuleOutline(module, type)
        // The actions of an interface that takes any aren't known.
        for interface in interfaces where !interface.actions.isEmpty {
            outline.provides.append(try self.outline(interface))
        }
        var required: Set<String> = []
        for type in self.required.compactMap(\.type) where required.insert(Self.name(type)).inserted {
            outline.requires.append(try Self.outline(requiring: type))
        }
        outline.broadcasts = Self.outlines(broadcasts)
        outline.reports = Self.outlines(reports.flatMap(\.notices))
        outline.observes = Self.outlines(observations.map { DeclaredNotice(name: $0.name, type: $0.type) })
        outline.settings = declaredSettings?.outline
        return outline
    }

    private func outline(_ interface: InterfaceExport) throws(ContractFailure) -> ModuleOutline.Interface {
        let mark = interface.hasInstances ? "#" : ""
        var outline = ModuleOutline.Interface(interface.name)
        if let type = interface.type {
            outline = try Self.outline(requiring: type)
            if !type.members.isEmpty {
                outline.listed = outline.actions.map(\.name)
                outline.listedProperties = outline.properties.map(\.name)
            }
        }
        outline.hasInstances = interface.hasInstances
        let properties = properties.filter { $0.name.interface == interface.name }
        outline.properties = properties.map(\.outline)
        let own = Set(properties.flatMap(\.actions))
        outline.actions = []
        for action in interface.actions where !own.contains(action.name) {
            let member = actions["\(interface.name)\(mark)/\(action.name)"]?.member
            var described = member.flatMap { ModuleOutline.Action(member: $0) } ?? ModuleOutline.Action(action.name)
            described.needsAuthorization = action.auth
            let exported = action.descriptors ?? .none
            // The list of members is what callers know, so its types can't leave out what is exported.
            let mayBeSilent = interface.type?.members.isEmpty ?? true
            guard member == nil || described.descriptors == exported || described.descriptors == .none && mayBeSilent
            else {
                throw ContractFailure(
                    "\(interface.name)/\(action.name) is exported with other descriptors (\(exported)) than its type "
                        + "says (\(described.descriptors)): say the same in both")
            }
            described.descriptors = exported
            outline.actions.append(described)
        }
        return outline
    }

    /// Returns an interface as its members say it.
    private static func outline(requiring type: any Interface.Type) throws(ContractFailure) -> ModuleOutline.Interface {
        var outline = ModuleOutline.Interface(name(type), version: type.version, type: type)
        for member in type.members {
            if let property = member as? any Property.Type {
                try check(property.name.interface, property.name.property, member, of: outline)
                outline.properties.append(.init(property))
            }
            if let action = ModuleOutline.Action(member: member) {
                try check(ModuleOutline.Action.interface(member), action.name, member, of: outline)
                outline.actions.append(action)
            }
            guard let notice = member as? any Notice.Type else { continue }
            if member is any Broadcast.Type { outline.broadcasts.append(.init(notice.name, notice)) }
            if member is any Report.Type { outline.reports.append(.init(notice.name, notice)) }
        }
        return outline
    }

    /// Checks that a member is of the interface that lists it, and alone of its name.
    private static func check(
        _ interface: String, _ name: String, _ member: any InterfaceMember.Type, of outline: ModuleOutline.Interface
    ) throws(ContractFailure) {
        guard interface == outline.name else {
            let what = member is any Property.Type ? "a property" : "an action"
            throw ContractFailure("\(outline.name) lists \(member) in its members, \(what) of \(interface)")
        }
        guard !(outline.actions.map(\.name) + outline.properties.map(\.name)).contains(name) else {
            throw ContractFailure("\(outline.name) lists two actions in its members that are named \(name)")
        }
    }

    private static func name(_ type: any Interface.Type) -> String { Name.withoutRouterSuffix(type.name) }

    /// Returns each name once, with a type if there is one.
    private static func outlines(_ notices: [DeclaredNotice]) -> [ModuleOutline.Notice] {
        var outlines: [ModuleOutline.Notice] = []
        for notice in notices.filter({ $0.type != nil }) + notices.filter({ $0.type == nil })
        where !outlines.contains(where: { $0.name == notice.name }) {
            outlines.append(.init(notice.name, notice.type, type: notice.property))
        }
        return outlines
    }
}

extension ModuleOutline.Property {
    /// Creates the outline of a property as its type says it.
    fileprivate init(_ type: any Property.Type) { self = Self.outline(type) }

    private static func outline<Type: Property>(_ type: Type.Type) -> Self {
        var outline = Self(type.name.property, Type.Value.self, type: type)
        if let settable = type as? any SettableProperty.Type {
            outline.isSettable = true
            outline.errors = settable.errors.map { ($0.key, $0.value) }
        }
        return outline
    }
}

extension ModuleOutline.Action {
    /// Nil if the member isn't an action.
    init?(member: any InterfaceMember.Type) {
        if let type = member as? any Action.Type {
            self.init(action: type)
        } else if let type = member as? any StreamingAction.Type {
            self.init(stream: type)
        } else {
            return nil
        }
    }

    private init<Type: Action>(action type: Type.Type) {
        self.init(type.name.action)
        (params, result, errors) = (type, Type.Reply.self, type.errors.map { ($0.key, $0.value) })
        descriptors = type.descriptors
    }

    private init<Type: StreamingAction>(stream type: Type.Type) {
        self.init(type.name.action)
        (params, result, errors) = (type, Type.Element.self, type.errors.map { ($0.key, $0.value) })
        isStream = true
    }

    /// The name of an action's interface.
    fileprivate static func interface(_ member: any InterfaceMember.Type) -> String {
        let name = (member as? any Action.Type)?.name ?? (member as? any StreamingAction.Type)?.name
        return Name.withoutRouterSuffix(name?.interface ?? "")
    }
}
