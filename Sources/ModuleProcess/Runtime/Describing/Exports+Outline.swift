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
        outline.broadcasts = Self.outlines(broadcasts.map { ($0.name, $0.type) })
        outline.reports = Self.outlines(reports.flatMap(\.notices).map { ($0.name, $0.type) })
        outline.observes = Self.outlines(observations.map { ($0.name, $0.type) })
        outline.settings = declaredSettings?.outline
        return outline
    }

    private func outline(_ interface: InterfaceExport) throws(ContractFailure) -> ModuleOutline.Interface {
        let mark = interface.hasInstances ? "#" : ""
        var outline = ModuleOutline.Interface(interface.name)
        if let type = interface.type {
            outline = try Self.outline(requiring: type)
            if !type.members.isEmpty { outline.listed = outline.actions.map(\.name) }
        }
        outline.hasInstances = interface.hasInstances
        outline.actions = interface.actions.map { action in
            let member = actions["\(interface.name)\(mark)/\(action.name)"]?.member
            var outline = member.flatMap { ModuleOutline.Action(member: $0) } ?? ModuleOutline.Action(action.name)
            outline.needsAuthorization = action.auth
            return outline
        }
        return outline
    }

    /// Returns an interface as its members say it.
    private static func outline(requiring type: any Interface.Type) throws(ContractFailure) -> ModuleOutline.Interface {
        var outline = ModuleOutline.Interface(name(type), version: type.version, type: type)
        for member in type.members {
            if let action = ModuleOutline.Action(member: member) {
                let interface = ModuleOutline.Action.interface(member)
                guard interface == outline.name else {
                    throw ContractFailure("\(outline.name) lists \(member) in its members, an action of \(interface)")
                }
                guard !outline.actions.contains(where: { $0.name == action.name }) else {
                    throw ContractFailure(
                        "\(outline.name) lists two actions in its members that are named \(action.name)")
                }
                outline.actions.append(action)
            }
            guard let notice = member as? any Notice.Type else { continue }
            if member is any Broadcast.Type { outline.broadcasts.append(.init(notice.name, notice)) }
            if member is any Report.Type { outline.reports.append(.init(notice.name, notice)) }
        }
        return outline
    }

    private static func name(_ type: any Interface.Type) -> String { Name.withoutRouterSuffix(type.name) }

    /// Returns each name once, with a type if there is one.
    private static func outlines(_ notices: [(name: String, type: (any Notice.Type)?)]) -> [ModuleOutline.Notice] {
        var outlines: [ModuleOutline.Notice] = []
        for notice in notices.filter({ $0.type != nil }) + notices.filter({ $0.type == nil })
        where !outlines.contains(where: { $0.name == notice.name }) {
            outlines.append(.init(notice.name, notice.type))
        }
        return outlines
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
