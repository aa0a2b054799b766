internal import StrataCore

/// Divides an offer into bodies that the broker accepts. The first is the body of hello or of a
/// registration; the others are sent with `bus/register`.
struct OfferParts {
    /// The most bytes of a body, which leaves room for the header.
    static let mostBytes = 60 << 10
    static let mostValues = 4_096

    /// The members that only the first part has: they identify the module.
    private var members: [JSON.Member] = []
    private var interfaces: [(name: String, members: [JSON.Member], actions: [JSON.Member])] = []
    private var lists: [(name: String, elements: [JSON])] = []
    private var reports: [(module: String, names: [JSON])] = []
    private var bytes = 0
    private var values = 0
    private var parts: [JSON] = []

    private init() { begin() }

    /// Returns the parts of a body of hello, `bus/register` or `bus/unregister`: a single part if
    /// the body fits. Every part but the last says `more`.
    static func of(_ whole: JSON) -> [JSON] {
        guard whole.encoded().count > mostBytes || whole.valueCount > mostValues else { return [whole] }
        var divided = OfferParts()
        let all = whole.object ?? []
        divided.members = all.filter { $0.name == "settings" || ($0.value.array == nil && $0.value.object == nil) }
        divided.count(.object(divided.members))
        for member in all {
            switch (member.name, member.value) {
            case ("interfaces", .object(let interfaces)):
                for interface in interfaces { divided.add(interface: interface) }
            case ("settings", _): break
            case (_, .object(let targets)):
                for target in targets { divided.add(reports: target.value.array ?? [], to: target.name) }
            case (let name, .array(let elements)): for element in elements { divided.add(element, to: name) }
            case (_, .null), (_, .bool), (_, .integer), (_, .number), (_, .string): break
            }
        }
        divided.end(more: false)
        return divided.parts
    }

    /// Adds an interface; actions that don't fit go into the next part.
    private mutating func add(interface: JSON.Member) {
        let actions = interface.value["actions"]?.object ?? []
        let others = (interface.value.object ?? []).filter { $0.name != "actions" }
        var isNew = true
        func open(_ parts: inout OfferParts) {
            parts.interfaces.append((interface.name, isNew ? others : [.init("add", true)], []))
            isNew = false
        }
        let opening = JSON.object([
            .init(interface.name, .object(others + [.init("add", true), .init("actions", [:])]))
        ])
        makeRoom(opening)
        open(&self)
        for action in actions {
            if makeRoom(JSON.object([action])) {
                count(opening)
                open(&self)
            }
            interfaces[interfaces.count - 1].actions.append(action)
        }
    }

    private mutating func add(_ element: JSON, to name: String) {
        makeRoom([element, .string(name)])
        if lists.last?.name != name { lists.append((name, [])) }
        lists[lists.count - 1].elements.append(element)
    }

    private mutating func add(reports names: [JSON], to module: String) {
        for name in names {
            makeRoom([name, .string(module)])
            if reports.last?.module != module { reports.append((module, [])) }
            reports[reports.count - 1].names.append(name)
        }
    }

    /// Counts the value that comes next, and ends the current part first if it is full.
    /// - Returns: Whether the value begins a new part.
    @discardableResult
    private mutating func makeRoom(_ json: JSON) -> Bool {
        let (more, further) = (json.encoded().count, json.valueCount)
        let isFull = bytes + more > Self.mostBytes || values + further > Self.mostValues
        if isFull { end(more: true) }
        bytes += more
        values += further
        return isFull
    }

    private mutating func count(_ json: JSON) {
        bytes += json.encoded().count
        values += json.valueCount
    }

    private mutating func begin() {
        members = []
        interfaces = []
        lists = []
        reports = []
        // An allowance for the names of the lists, `more`, and the object itself.
        (bytes, values) = (256, 16)
    }

    private mutating func end(more: Bool) {
        if !interfaces.isEmpty {
            let all = interfaces.map { own in
                let actions = own.actions.isEmpty ? [] : [JSON.Member("actions", .object(own.actions))]
                return JSON.Member(own.name, .object(own.members + actions))
            }
            members.append(.init("interfaces", .object(all)))
        }
        for list in lists { members.append(.init(list.name, .array(list.elements))) }
        if !reports.isEmpty {
            members.append(.init("reports", .object(reports.map { .init($0.module, .array($0.names)) })))
        }
        if more { members.append(.init("more", true)) }
        parts.append(.object(members))
        begin()
    }
}

extension JSON {
    /// The number of values as the broker counts them: this value and all values within it.
    var valueCount: Int {
        switch self {
        case .null, .bool, .integer, .number, .string: 1
        case .array(let elements): elements.reduce(1) { $0 + $1.valueCount }
        case .object(let members): members.reduce(1) { $0 + $1.value.valueCount }
        }
    }
}

/// The body of `bus/hello`.
@ModuleActor
enum HelloBody {
    static let protocolVersion: Int64 = 1
    static let runtime = "swift \(StrataVersion.text)"

    static func json(
        module: String, level: String?, token: String?, exports: Exports, observations: [Observing],
        settings: [JSON]?, resumed: Bool, takesFiles: Bool
    ) -> JSON {
        var members = [
            JSON.Member("protocol", .integer(protocolVersion)), JSON.Member("module", .string(module)),
        ]
        func add(_ name: String, _ value: JSON) { members.append(JSON.Member(name, value)) }
        func add(_ name: String, _ values: [JSON]) { if !values.isEmpty { add(name, .array(values)) } }
        if let token { add("token", .string(token)) }
        if let level { add("level", .string(level)) }
        add("runtime", .string(runtime))
        if !exports.interfaces.isEmpty {
            add("interfaces", .object(exports.interfaces.map { JSON.Member(Name.said($0.name), $0.json) }))
        }
        add("urls", exports.urls.map(\.json))
        add("observes", observations.map(\.json))
        add("broadcasts", exports.broadcasts.map { .string($0.name) })
        if !exports.reports.isEmpty {
            let reports = exports.reports.map { report in
                JSON.Member(report.target, .array(report.notices.map { .string($0.name) }))
            }
            add("reports", .object(reports))
        }
        add("events", exports.events.map { .string($0.name) })
        add(
            "requires",
            exports.required.map { .string(RequiredInterface(name: $0.name, version: $0.type?.version).description) })
        if let settings { add("settings", .array(settings)) }
        if resumed { add("resumed", true) }
        add("retiring", true)
        if exports.takesDescriptors { add("descriptors", true) }
        if takesFiles { add("memory", true) }
        return .object(members)
    }
}

extension Exports.InterfaceExport {
    var json: JSON {
        var members = [JSON.Member("instances", hasInstances ? "multiple" : "single")]
        if let version = type?.version { members.append(JSON.Member("version", .string("\(version)"))) }
        if !actions.isEmpty {
            let actions = actions.map { action in
                let facts = [("auth", action.auth), ("stream", action.isStream)].filter(\.1)
                let descriptors = action.descriptors?.json.map { [JSON.Member("descriptors", $0)] } ?? []
                return JSON.Member(action.name, .object(facts.map { JSON.Member($0.0, true) } + descriptors))
            }
            members.append(JSON.Member("actions", .object(actions)))
        }
        return .object(members)
    }
}

extension Exports.URLExport {
    var json: JSON { ["host": .string(host), "path": .string(path), "to": .string(to)] }
}
