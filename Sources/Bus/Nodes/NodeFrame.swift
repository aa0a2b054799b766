import StrataCore

/// The body of a frame of kind `node`, which only two brokers send each other: a part of the
/// sender's facts and news. Unknown members are ignored, so that a later build may say more.
struct NodeFrame {
    /// The limits of its body when it is read. A sender stays far below them.
    static let limit = BodyLimit(bytes: 1 << 20, values: 20_000)
    /// About how many bytes of rows and names one frame has at most, when it is written.
    private static let most = 64 << 10

    /// The sender's version of this conversation and its facts but for the rows; nil in a frame that
    /// doesn't begin them.
    var facts: NodeFacts?
    var version: Int64 = 1
    var node = ""
    /// Whether another frame follows before the sender's table is whole.
    var more = false
    /// Whether these rows, with those of the frames that follow, replace all that were said before.
    var isAnew = false
    var rows: [String: NodeFacts.Row] = [:]
    var ready: [String] = []
    var unready: [String] = []
    var observes: [(ObservedName, rank: Int)] = []
    var unobserves: [ObservedName] = []
    /// How many broadcasts of names that only patterns observe the sender had no room for, by the pattern.
    var missed: [(pattern: ObservedName, missed: UInt64)] = []
    /// The instances there that its modules have released, and those here that have ended, by the numbers of the
    /// creator's node.
    var (released, ended): ([UInt64], [UInt64]) = ([], [])
    /// What it asks for that modules here have retained, and the asks that it has answered.
    var (asks, answered): ([RetainedAsk], [UInt64]) = ([], [])
    /// Whether it answers asks; in the frame that begins its table.
    var retains = false
    /// The number of the observations that it has told so far; nil if the frame gives none.
    var subscription: UInt64?
    /// The number of the sender's counts; 0 in a frame that doesn't begin its table.
    var series: UInt64 = 0
    /// How many broadcasts of a name the sender has had for the receiver in this series.
    var counts: [String: UInt64] = [:]

    /// The members that say what begins and ends to be observed.
    private struct Observing {
        let isPattern: Bool
        let begin: String
        let end: String

        static let names = Observing(isPattern: false, begin: "observes", end: "unobserves")
        static let patterns = Observing(isPattern: true, begin: "observesPatterns", end: "unobservesPatterns")
        static let all = [names, patterns]

        static func of(_ observed: ObservedName) -> Observing { observed.isPattern ? patterns : names }
    }

    init() {}

    // MARK: Reading

    init(_ body: UnsafeRawBufferPointer) throws(BusError) {
        let json = try Self.limit.read(body, of: "a node's frame")
        let reader = MemberReader(json, of: "a node's frame")
        if let version = try reader.integer("protocol") {
            self.version = version
            node = try reader.required("node")
            var facts = NodeFacts()
            facts.app = try reader.required("app")
            facts.levels = try reader.strings("levels")
            let limits = MemberReader(json["limits"] ?? .null, of: "the limits of a node")
            (facts.frame, facts.header) = (try Self.limit(limits, "frame"), try Self.limit(limits, "header"))
            self.facts = facts
        }
        more = try reader.bool("more") ?? false
        isAnew = try reader.bool("anew") ?? false
        for member in try reader.object("rows") ?? [] { rows[member.name] = try NodeFacts.Row(member) }
        ready = try reader.strings("ready")
        unready = try reader.strings("unready")
        for kind in Observing.all {
            unobserves += try reader.strings(kind.end).map {
                ObservedName(text: Array($0.utf8), isPattern: kind.isPattern)
            }
            for member in try reader.object(kind.begin) ?? [] {
                guard let rank = member.value.integer.flatMap({ Int(exactly: $0) }), rank >= 0 else {
                    throw BusError(.badParams, "a node observes \"\(member.name)\" without a rank")
                }
                observes.append((ObservedName(text: Array(member.name.utf8), isPattern: kind.isPattern), rank))
            }
        }
        for member in try reader.object("missed") ?? [] {
            let pattern = ObservedName(text: Array(member.name.utf8), isPattern: true)
            missed.append((pattern, try Self.count(member, "missed")))
        }
        (released, ended) = (try Self.numbers(json, "released"), try Self.numbers(json, "ended"))
        for ask in try reader.array("asks") ?? [] { asks.append(try RetainedAsk(ask)) }
        (answered, retains) = (try Self.numbers(json, "answered"), try reader.bool("retains") ?? false)
        subscription = try reader.integer("subscription").map { UInt64(max(0, $0)) }
        series = UInt64(max(0, try reader.integer("series") ?? 0))
        for member in try reader.object("counts") ?? [] {
            counts[member.name] = try Self.count(member, "counts")
        }
    }

    private static func count(_ member: JSON.Member, _ name: String) throws(BusError) -> UInt64 {
        guard let count = member.value.integer, count >= 0 else {
            throw BusError(.badParams, "\"\(name)\" of a node has \"\(member.name)\" without a number")
        }
        return UInt64(count)
    }

    private static func numbers(_ json: JSON, _ name: String) throws(BusError) -> [UInt64] {
        guard let list = json[name] else { return [] }
        let numbers = list.array?.compactMap { $0.integer.flatMap { UInt64(exactly: $0) } }
        guard let numbers, numbers.count == list.array?.count else {
            throw BusError(.badParams, "a node's frame has \"\(name)\" that is no list of numbers")
        }
        return numbers
    }

    private static func limit(_ reader: MemberReader, _ name: String) throws(BusError) -> UInt32 {
        guard let value = try reader.integer(name).flatMap({ UInt32(exactly: $0) }) else {
            throw BusError(.badParams, "the limits of a node lack \"\(name)\", a number of bytes")
        }
        return value
    }

    // MARK: Writing

    /// Returns the bodies that tell another node all facts and news, in order.
    /// - Parameters:
    ///   - subscription: the number of the observations.
    ///   - series: the number of the counts.
    ///   - counts: how many broadcasts of each name there were for the other node.
    static func bodies(
        _ facts: NodeFacts, _ news: NodeNews, of node: String, subscription: UInt64 = 0, series: UInt64 = 0,
        counts: [String: UInt64] = [:]
    ) -> [[UInt8]] {
        let head: [JSON.Member] = [
            .init("protocol", 1), .init("node", .string(node)), .init("app", .string(facts.app)),
            .init("levels", JSON(facts.levels)),
            .init("limits", ["frame": JSON(facts.frame), "header": JSON(facts.header)]),
            .init("subscription", JSON(subscription)), .init("series", JSON(series)),
            .init("retains", true),
        ]
        let counted = counts.sorted { $0.key < $1.key }.map { Part.member("counts", .init($0.key, JSON($0.value))) }
        return bodies(head, parts(facts.rows) + parts(news) + counted)
    }

    /// Returns the bodies that tell another node what has changed, in order.
    /// - Parameter subscription: the number of the observations; nil if none begins. The last body gives it. In a body
    ///   of its own it would come too late: a broadcast could be sent between the two, with the number before.
    static func bodies(from old: NodeNews, to new: NodeNews, subscription: UInt64? = nil) -> [[UInt8]] {
        let added = NodeNews(
            ready: new.ready.subtracting(old.ready), observed: new.observed.filter { old.observed[$0.key] != $0.value })
        let removed: [Part] =
            old.ready.subtracting(new.ready).sorted().map { .element("unready", .string($0)) }
            + old.observed.keys.filter { new.observed[$0] == nil }.sorted()
            .map { .element(Observing.of($0).end, .string(Request.Bytes.text($0.text))) }
        let number = subscription.map { [JSON.Member("subscription", JSON($0))] } ?? []
        return bodies([], parts(added) + removed, last: number)
    }

    /// Returns the body that tells the owners' node which instances its creators have released, or the creators' which
    /// have ended.
    static func body(released: [UInt64] = [], ended: [UInt64] = []) -> [UInt8] {
        let lists = [("released", released), ("ended", ended)].filter { !$0.1.isEmpty }
        return body(lists.map { .init($0.0, .array($0.1.map { JSON($0) })) }, []).encoded()
    }

    /// Returns the bodies that tell how many broadcasts patterns have missed.
    static func bodies(missed: [(pattern: String, missed: UInt64)]) -> [[UInt8]] {
        bodies([], missed.map { .member("missed", .init($0.pattern, JSON($0.missed))) })
    }

    /// Returns the bodies that ask for retained broadcasts.
    static func bodies(asks: [RetainedAsk]) -> [[UInt8]] { bodies([], asks.map { .element("asks", $0.json) }) }

    /// Returns the body that tells which asks were answered.
    static func body(answered: [UInt64]) -> [UInt8] {
        body([.init("answered", .array(answered.map { JSON($0) }))], []).encoded()
    }

    /// Returns the bodies that tell another node the rows anew, in order.
    static func bodies(rows: [String: NodeFacts.Row]) -> [[UInt8]] { bodies([.init("anew", true)], parts(rows)) }

    private static func parts(_ rows: [String: NodeFacts.Row]) -> [Part] {
        rows.sorted { $0.key < $1.key }.map { .member("rows", .init($0.key, $0.value.json)) }
    }

    private static func parts(_ news: NodeNews) -> [Part] {
        news.ready.sorted().map { .element("ready", .string($0)) }
            + news.observed.sorted { $0.key < $1.key }
            .map { .member(Observing.of($0.key).begin, .init(Request.Bytes.text($0.key.text), JSON($0.value))) }
    }

    /// One thing that a body says.
    private enum Part {
        case element(String, JSON)
        case member(String, JSON.Member)

        var cost: Int {
            switch self {
            case .element(_, let json): json.encoded().count + 1
            case .member(_, let member): member.name.utf8.count + member.value.encoded().count + 4
            }
        }
    }

    /// Spreads parts over as few bodies as the size of one allows. All but the last say `more`.
    private static func bodies(
        _ head: [JSON.Member], _ parts: [Part], last: [JSON.Member] = []
    ) -> [[UInt8]] {
        var bodies: [[Part]] = [[]]
        var size = 0
        for part in parts {
            if size + part.cost > most {
                bodies.append([])
                size = 0
            }
            bodies[bodies.count - 1].append(part)
            size += part.cost
        }
        return bodies.enumerated().map { index, parts in
            body((index == 0 ? head : []) + (index < bodies.count - 1 ? [.init("more", true)] : last), parts).encoded()
        }
    }

    private static func body(_ head: [JSON.Member], _ parts: [Part]) -> JSON {
        var (elements, members): ([String: [JSON]], [String: [JSON.Member]]) = ([:], [:])
        for part in parts {
            switch part {
            case .element(let name, let json): elements[name, default: []].append(json)
            case .member(let name, let member): members[name, default: []].append(member)
            }
        }
        let lists = elements.map { JSON.Member($0.key, .array($0.value)) }
        let objects = members.map { JSON.Member($0.key, .object($0.value)) }
        return .object(head + (lists + objects).sorted { $0.name < $1.name })
    }
}

extension NodeFacts.Row {
    fileprivate init(_ member: JSON.Member) throws(BusError) {
        let reader = MemberReader(member.value, of: "a node's row \(member.name)")
        level = try reader.required("level")
        nodes = try reader.strings("nodes")
        provides = try reader.strings("provides")
        urls = try reader.strings("urls")
    }

    fileprivate var json: JSON {
        [
            "level": .string(level), "nodes": JSON(nodes), "provides": JSON(provides), "urls": JSON(urls),
        ]
    }
}
