public import StrataContracts
public import StrataCore

/// A module's own description, which it prints when it is started with `--describe`: the parts of
/// its hello that can be compared with a manifest.
public struct ModuleDescription: Sendable, Equatable {
    /// An interface that the module brings.
    public struct Interface: Sendable, Equatable {
        public var name: String
        public var isMultiple: Bool
        /// The version of its contract; nil if the module doesn't say.
        public var version: ContractVersion?
        /// The listed actions; nil if none are listed, and then every action is allowed.
        public var actions: [Action]?

        public init(
            name: String, isMultiple: Bool = false, version: ContractVersion? = nil, actions: [Action]? = nil
        ) {
            self.name = name
            self.isMultiple = isMultiple
            self.version = version
            self.actions = actions
        }

        /// Whether a call of this action is allowed.
        public func has(_ action: String) -> Bool { actions?.contains { $0.name == action } ?? true }
    }

    /// An action that an interface lists.
    public struct Action: Sendable, Equatable {
        public var name: String
        public var needsAuthorization: Bool
        /// Whether it answers in parts.
        public var isStream: Bool

        public init(_ name: String, needsAuthorization: Bool = false, isStream: Bool = false) {
            self.name = name
            self.needsAuthorization = needsAuthorization
            self.isStream = isStream
        }
    }

    public var level: String?
    public var interfaces: [Interface] = []
    public var urls: [AppTable.URLMapping] = []
    public var requires: [RequiredInterface] = []
    public var observes: [AppTable.Observed] = []
    public var broadcasts: [String] = []
    public var reports: [AppTable.Reported] = []
    /// The events that the module declares.
    public var events: [String] = []

    /// The settings that the module declares; nil if it declares none, and then it gets all plain ones.
    public var settings: [DeclaredSetting]?

    /// The types of what the module offers, requires and sends; nil if it doesn't describe them.
    public var contracts: ModuleContracts?

    public init() {}

    /// Reads a hello. Some forms that the broker would refuse are accepted.
    /// - Throws: What is wrong with the hello.
    public init(_ hello: JSON) throws(Malformed) {
        guard hello.object != nil, hello["protocol"]?.integer == 1 else {
            throw Malformed(message: "it is not a hello of protocol 1")
        }
        level = hello["level"]?.string
        for member in try Self.object(hello, "interfaces") {
            guard Name.isInterface(member.name), member.value.object != nil else {
                throw Malformed(message: "\"\(member.name)\" is not an interface")
            }
            let version = member.value["version"]?.string.flatMap { ContractVersion($0) }
            if let found = member.value["version"], version == nil {
                throw Malformed(
                    message: "the version \(found) of its interface \(member.name) is not a text as in \"2.1\"")
            }
            interfaces.append(
                Interface(
                    name: Name.withoutRouterSuffix(member.name),
                    isMultiple: member.value["instances"]?.string == "multiple",
                    version: version,
                    actions: member.value["actions"]?.object?.map {
                        Action(
                            $0.name, needsAuthorization: $0.value["auth"]?.bool == true,
                            isStream: $0.value["stream"]?.bool == true)
                    }))
        }
        for url in try Self.array(hello, "urls") {
            guard let host = url["host"]?.string, let path = url["path"]?.string, let to = url["to"]?.string else {
                throw Malformed(message: "one of its urls lacks host, path or to")
            }
            var target = to
            if let parsed = CallTarget(to), let action = parsed.action, !parsed.hasInstance {
                target = "\(parsed.interface)/\(action)"
            }
            urls.append(.init(host: host.lowercased(), path: path, to: target))
        }
        requires = try Self.names(hello, "requires").map { text throws(Malformed) in
            guard let required = RequiredInterface(text) else {
                throw Malformed(
                    message: "\"\(text)\" in its requires is not an interface, as in Storage or Storage@2.1")
            }
            return required
        }
        for observed in try Self.array(hello, "observes") {
            let pattern = observed["pattern"]?.string
            guard let name = observed.string ?? observed["name"]?.string ?? pattern else {
                throw Malformed(message: "one of its observes lacks a name")
            }
            if let problem = pattern.flatMap(NamePattern.problem) {
                throw Malformed(message: "in its observes, \(problem)")
            }
            observes.append(
                .init(
                    name: name, isPattern: pattern != nil, object: observed["object"]?.string,
                    keep: observed["keep"]?.string == "latest" ? .latest : .all,
                    share: observed["share"]?.bool == true))
        }
        settings = try Self.settings(hello)
        broadcasts = try Self.names(hello, "broadcasts")
        events = try Self.names(hello, "events")
        for member in try Self.object(hello, "reports") {
            reports.append(.init(module: member.name, names: try Self.names(hello["reports"] ?? .null, member.name)))
        }
        if let said = hello["contracts"] {
            do throws(ContractError) { take(try ModuleContracts(json: said)) } catch {
                throw Malformed(message: "in its contracts, \(error)")
            }
        }
    }

    /// Takes what a module says of its types, with the settings that it declares.
    public mutating func take(_ contracts: ModuleContracts) {
        self.contracts = contracts
        settings = DeclaredSetting.joined(settings, contracts.module.settings)
    }

    private static func settings(_ hello: JSON) throws(Malformed) -> [DeclaredSetting]? {
        guard hello["settings"] != nil else { return nil }
        var settings: [DeclaredSetting] = []
        for element in try array(hello, "settings") {
            guard let setting = DeclaredSetting(element) else {
                throw Malformed(message: "one of its settings lacks a name")
            }
            settings.append(setting)
        }
        return settings
    }

    /// Returns the interface of a name.
    public func interface(_ name: String) -> Interface? { interfaces.first { $0.name == name } }

    /// The reason why a text is not a description.
    public struct Malformed: Error, Equatable {
        public var message: String
    }

    private static func object(_ json: JSON, _ key: String) throws(Malformed) -> [JSON.Member] {
        guard let value = json[key] else { return [] }
        guard let members = value.object else { throw Malformed(message: "its \(key) must be an object") }
        return members
    }

    private static func array(_ json: JSON, _ key: String) throws(Malformed) -> [JSON] {
        guard let value = json[key] else { return [] }
        guard let elements = value.array else { throw Malformed(message: "its \(key) must be an array") }
        return elements
    }

    private static func names(_ json: JSON, _ key: String) throws(Malformed) -> [String] {
        var names: [String] = []
        for element in try array(json, key) {
            guard let name = element.string else { throw Malformed(message: "its \(key) must be an array of names") }
            names.append(name)
        }
        return names
    }
}
