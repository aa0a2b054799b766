import StrataCore

/// The declarations of a peer in `bus/hello`, or of a module in `bus/register`. Only their form has
/// been checked.
struct Hello {
    enum Role: Equatable {
        case module(String)
        case `operator`, launcher
        /// The broker of another app, with the name that it gives.
        case app(String)
        /// The process that connects this broker with other nodes, and its connection to one.
        case link
        case node(String)
    }

    var role: Role
    var token: String?
    var level: String?
    var offer = Offer()
    var observes: [AppTable.Observed] = []
    var requires: [RequiredInterface] = []
    var events: [String] = []
    /// The settings that it declares; nil if it declares none, and then gets all.
    var settings: [SettingKey]?
    var resumed = false
    /// Whether the session is notified when another process takes over from it.
    var retiring = false
    /// Which descriptors it takes.
    var takes: PeerDescriptors.Terms = []
    /// Whether another part follows, in `bus/register`.
    var more = false

    /// The interfaces and URLs that hello or `bus/register` brings.
    struct Offer {
        var interfaces: [Interface] = []
        var urls: [URL] = []
    }

    struct Interface {
        var name = ""
        var instances = InterfaceRecord.Instances.single
        /// The version of its contract; nil if the module doesn't say.
        var version: ContractVersion?
        var actions: [InterfaceRecord.Action]?
        /// Whether its actions are added to those that the module's interface already has.
        var adds = false
    }

    struct URL {
        var host = ""
        var pattern = URLPattern()
        var interface = ""
        var action = ""
        /// Whether the row that maps it lets other apps open it.
        var isPublic = false

        /// The path as it was written.
        var path: String { pattern.text }
    }

    /// Reads the body of hello.
    init(_ body: UnsafeRawBufferPointer) throws(BusError) {
        let reader = try MemberReader(body: body, of: "hello")
        guard let version = try reader.integer("protocol") else {
            throw BusError(.badParams, "hello lacks \"protocol\": send 1")
        }
        try require(
            version == 1, .badVersion,
            "hello asked for protocol \(version), and this broker speaks 1: use a client of version 1")
        let module = try reader.string("module")
        switch (try reader.string("role"), module) {
        case ("operator", nil): role = .operator
        case ("launcher", nil): role = .launcher
        case ("app", nil):
            guard let name = try reader.string("app"), Name.isApp(name) else {
                throw BusError(
                    .badParams, "hello with the role app lacks \"app\", its app's name: 1 to 32 of a-z, 0-9 and -")
            }
            role = .app(name)
        case ("link", nil): role = .link
        case ("node", nil):
            guard let name = try reader.string("node"), Name.isNode(name) else {
                throw BusError(.badParams, "hello with the role node lacks \"node\", the other node's name")
            }
            role = .node(name)
        case (nil, let name?):
            try require(
                Name.isModule(ReplicaName.row(of: name)) && !Name.isReserved(name), .badParams,
                "hello's module \"\(name)\" is not a module's name: a letter, then up to 63 letters, digits, "
                    + "dots, underscores or hyphens, and not bus, module, launcher or operator; ~ and a number for a replica"
            )
            role = .module(name)
        case (nil, nil):
            throw BusError(.badParams, "hello lacks \"module\": send the module's name, or a \"role\"")
        case (let role?, nil):
            throw BusError(.badParams, "hello's role \"\(role)\" is not operator, launcher or app")
        case (_?, _?):
            throw BusError(.badParams, "hello has a role and a module: send only one of them")
        }
        token = try reader.string("token")
        level = try reader.string("level")
        // Only its type is checked, because it is for people.
        _ = try reader.string("runtime")
        try readPart(reader)
        if let adding = offer.interfaces.first(where: \.adds) {
            throw BusError(
                .badParams, "hello's interface \(adding.name) has \"add\", and there is none yet: add in bus/register")
        }
        settings = try SettingKey.declared(in: reader)
        resumed = try reader.bool("resumed") ?? false
        retiring = try reader.bool("retiring") ?? false
        if try reader.bool("descriptors") == true { takes.insert(.descriptors) }
        if try reader.bool("memory") == true { takes.insert(.memory) }
    }

    /// Reads the body of `bus/register`: another part of what a module brings.
    init(part body: UnsafeRawBufferPointer, of module: String) throws(BusError) {
        role = .module(module)
        let reader = try MemberReader(body: body, of: "bus/register")
        try require(
            try reader.array("settings") == nil, .badParams,
            "bus/register has no settings: declare them in hello, whose answer has their values")
        try readPart(reader)
    }

    private mutating func readPart(_ reader: MemberReader) throws(BusError) {
        offer = try Offer(reader)
        observes = try Self.observations(reader)
        requires = try reader.strings("requires").map { text throws(BusError) in
            guard let required = RequiredInterface(text) else {
                throw BusError(
                    .badParams,
                    "\"\(text)\" in requires is not an interface: write its name, alone or with a "
                        + "version as in Storage@2.1")
            }
            return required
        }
        events = try reader.strings("events").map(Self.checkedName)
        // These are checked but not kept, because the manifest decides.
        for name in try reader.strings("broadcasts") { _ = try Self.checkedName(name) }
        try Self.checkReports(reader)
        more = try reader.bool("more") ?? false
    }

    private static func observations(_ reader: MemberReader) throws(BusError) -> [AppTable.Observed] {
        try (reader.array("observes") ?? []).map { json throws(BusError) in
            guard let name = json.string else { return try observation(json) }
            return AppTable.Observed(name: try checkedName(name))
        }
    }

    /// The most bytes of an observed object; at the usual limit, no header holds a longer one.
    static let longestObject = 16 << 10

    /// Reads `{name or pattern, object?, keep?, share?}`, as in hello and in `bus/observe`.
    static func observation(_ json: JSON) throws(BusError) -> AppTable.Observed {
        let reader = MemberReader(json, of: "an observation")
        let (name, pattern) = (try reader.string("name"), try reader.string("pattern"))
        guard let observed = name ?? pattern, (name == nil) != (pattern == nil) else {
            throw BusError(
                .badParams,
                name == nil
                    ? "an observation lacks \"name\": name what it observes, or give a \"pattern\" of names"
                    : "an observation has both \"name\" and \"pattern\": give one of them")
        }
        if let problem = pattern.flatMap(NamePattern.problem) { throw BusError(.badParams, problem) }
        let object = try reader.string("object")
        try require(
            (object?.utf8.count ?? 0) <= longestObject, .badParams,
            "an observed object has at most \(longestObject) bytes, because a header has room for no more")
        let keep = try reader.string("keep") ?? "all"
        guard let keep = AppTable.Keep(rawValue: keep) else {
            throw BusError(.badParams, "an observation keeps \"\(keep)\": use all or latest")
        }
        return .init(
            name: try checkedName(observed), isPattern: pattern != nil, object: object, keep: keep,
            share: try reader.bool("share") ?? false)
    }

    /// The most actions, events and required interfaces that one module may have, each.
    static let mostNames = 16_384

    static func checkCount(_ what: String, _ count: Int) throws(BusError) {
        try require(count <= mostNames, .badParams, "\(count) \(what) are listed, and one module may have \(mostNames)")
    }

    private static func checkedName(_ name: String) throws(BusError) -> String {
        try require(
            (1...256).contains(name.utf8.count), .badParams,
            "a notification's or an event's name has 1 to 256 bytes; this one has \(name.utf8.count)")
        return name
    }

    private static func checkReports(_ reader: MemberReader) throws(BusError) {
        guard let reports = try reader.object("reports") else { return }
        for member in reports {
            try require(Name.isModule(member.name), .badParams, "\"\(member.name)\" in reports is not a module's name")
            for json in member.value.array ?? [.null] {
                guard let name = json.string else {
                    throw BusError(.badParams, "the reports to \"\(member.name)\" must be an array of names")
                }
                _ = try checkedName(name)
            }
        }
    }
}

extension Hello.Offer {
    init(_ reader: MemberReader) throws(BusError) {
        self.init()
        var names: Set<String> = []
        for member in try reader.object("interfaces") ?? [] {
            let interface = try Hello.Interface(member)
            try require(
                names.insert(interface.name).inserted, .badParams, "the interface \(interface.name) comes twice")
            interfaces.append(interface)
        }
        urls = try (reader.array("urls") ?? []).map { json throws(BusError) in try Hello.URL(json) }
    }

    /// The first URL that equals an earlier one; nil if there is none.
    var repeatedURL: Hello.URL? {
        var places: Set<Hello.URL.Place> = []
        return urls.first { !places.insert($0.place).inserted }
    }
}

extension Hello.Interface {
    /// Reads `"Login": {"instances": "single", "actions": {"signIn": {"auth": false}}}`.
    init(_ member: JSON.Member) throws(BusError) {
        name = Name.withoutRouterSuffix(member.name)
        try require(
            Name.isInterface(name), .badParams,
            "\"\(member.name)\" is not an interface's name: a letter, then up to 63 letters, digits, dots, "
                + "underscores or hyphens")
        try require(!Name.isReserved(name), .badParams, "the interface name \(name) is reserved: choose another")
        let reader = MemberReader(member.value, of: "the interface \(name)")
        let word = try reader.string("instances") ?? "single"
        guard let instances = InterfaceRecord.Instances(rawValue: word) else {
            throw BusError(.badParams, "the interface \(name) has instances \"\(word)\": use single or multiple")
        }
        self.instances = instances
        version = try reader.string("version").map { text throws(BusError) in
            guard let version = ContractVersion(text) else {
                throw BusError(
                    .badParams,
                    "the interface \(name) has version \"\(text)\": write major.minor, each 0 to 65535, as in "
                        + "2.1")
            }
            return version
        }
        adds = try reader.bool("add") ?? false
        let actions = try (reader.object("actions") ?? []).map { action throws(BusError) in
            try require(
                Name.isAction(action.name), .badParams, "\"\(action.name)\" in \(name) is not an action's name")
            let reader = MemberReader(action.value, of: "the action \(name)/\(action.name)")
            return InterfaceRecord.Action(
                name: action.name, nameBytes: Array(action.name.utf8),
                needsAuthorization: try reader.bool("auth") ?? false, isStream: try reader.bool("stream") ?? false,
                descriptors: try InterfaceRecord.DescriptorTerms(reader, of: "the action \(name)/\(action.name)"))
        }
        // An interface that lists no actions takes any action.
        self.actions = actions.isEmpty ? nil : actions
    }
}

extension InterfaceRecord.DescriptorTerms {
    /// Reads an action's `"descriptors": {"params": 1, "reply": 2}`.
    init(_ action: borrowing MemberReader, of what: String) throws(BusError) {
        guard let members = try action.object("descriptors") else { return }
        let reader = MemberReader(.object(members), of: "the descriptors of \(what)")
        func most(_ name: String) throws(BusError) -> UInt8 {
            guard let value = try reader.integer(name) else { return 0 }
            guard (0...FrameDescriptors.most).contains(Int(value)) else {
                throw BusError(
                    .badParams,
                    "\(what) has descriptors with \"\(name)\": \(value), and 0 to \(FrameDescriptors.most) are allowed")
            }
            return UInt8(value)
        }
        (params, reply) = (try most("params"), try most("reply"))
    }
}

extension Hello.URL {
    /// Reads `{"host": "com.example.login", "path": "/show/:tip", "to": "Login/show"}`.
    init(_ json: JSON) throws(BusError) {
        let reader = MemberReader(json, of: "a URL")
        guard let host = try reader.string("host"), let path = try reader.string("path"),
            let to = try reader.string("to")
        else { throw BusError(.badParams, "a URL has \"host\", \"path\" and \"to\", all strings") }
        try self.init(host: host, path: path, to: to)
    }

    init(host: String, path: String, to: String) throws(BusError) {
        try require(URLTable<URLTarget>.isHost(host), .badParams, "\"\(host)\" is not a URL's host")
        do { pattern = try URLPattern(path) } catch { throw BusError(.badParams, error.message) }
        guard let destination = Destination(to), destination.instance == nil else {
            throw BusError(.badParams, "the URL \(host)\(path) leads to \"\(to)\": write Interface/action")
        }
        let bytes = Array(to.utf8)
        self.host = host.lowercasedASCII
        interface = String(decoding: bytes[destination.interface], as: UTF8.self)
        action = String(decoding: bytes[destination.action], as: UTF8.self)
    }
}

extension Hello.URL {
    /// A key that is equal for two URLs that can't both be mapped. The names of bound segments
    /// don't count.
    struct Place: Hashable {
        var host: String
        var form: URLForm
    }

    /// How messages name the URL.
    var text: String { "\(host)\(path)" }

    var place: Place { Place(host: host, form: pattern.form) }
}

extension String {
    /// The string with the ASCII letters in lower case.
    var lowercasedASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension Hello.Offer {
    /// Returns this offer with a further one added, which replaces entries of the same name or
    /// place.
    func adding(_ further: Hello.Offer) -> Hello.Offer {
        var all = self
        let names = Set(further.interfaces.map(\.name))
        all.interfaces.removeAll { names.contains($0.name) }
        all.interfaces += further.interfaces
        let places = Set(further.urls.map(\.place))
        all.urls.removeAll { places.contains($0.place) }
        all.urls += further.urls
        return all
    }
}

extension ModuleRecord {
    /// The interfaces that its current session brought.
    var offeredInterfaces: [Hello.Interface] {
        session.interfaces.map {
            Hello.Interface(name: $0.name, instances: $0.instances, version: $0.version, actions: $0.actions)
        }
    }

    /// Everything that its current session brought.
    var offer: Hello.Offer {
        Hello.Offer(
            interfaces: offeredInterfaces,
            urls: session.urls.map {
                Hello.URL(host: $0.host, pattern: $0.pattern, interface: $0.interface, action: $0.action)
            })
    }
}
