import StrataCore
import StrataTesting

/// A broker of one node, in memory, and a connection of another node on which the input decides what comes. Whatever
/// that is, the node speaks in its own modules' names alone, the modules of this node are served, and each of their
/// requests is answered once.
enum NodeTarget {
    private static let most = 64

    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        do {
            try TestBus(inMemory: table).run { bus in
                var script = try NodeScript(input, bus)
                for _ in 0..<most where !script.isAtEnd { try script.step() }
                try script.end()
            }
        } catch let finding as FuzzFinding {
            throw finding
        } catch {
            throw FuzzFinding("\(error)")
        }
    }

    /// Storage and Notes run on berlin, which is this node, Index and Log on tokyo.
    private static var table: AppTable {
        .testing(
            .manual("Storage", provides: ["Storage"]) { $0.placement = .on(["berlin"]) },
            .manual("Index", rank: 1, provides: ["Index"]) { $0.placement = .on(["tokyo"]) },
            .manual("Log", rank: 1) { $0.placement = .on(["tokyo"]) },
            .manual("Notes", rank: 2) { $0.placement = .on(["berlin"]) }
        ) { table in
            table.nodes = [.init("berlin"), .init("tokyo", operates: true)]
            table.node = "berlin"
            table.join = 1_000
            table.limits.queue = 64 << 10
            table.limits.instances = 4
            table.limits.calls = 16
        }
    }
}

/// What happens in one input.
private struct NodeScript {
    private var input: InputReader
    private let bus: TestBus
    private let store: RawPeer
    private let notes: RawPeer
    private let link: RawPeer
    private var line: RawPeer?
    /// What Storage was asked and has not answered.
    private var asked: [ReceivedFrame] = []
    /// The requests of Notes that have no answer yet.
    private var open: Set<UInt64> = []

    private static let froms = [
        #""Index""#, #""Index""#, #""Log""#, #""operator""#, #""Storage""#, #""Notes""#, #""bus""#, #""""#,
    ]
    private static let kinds = [
        "call", "call", "open", "report", "notice", "cancel", "credit", "reply", "error", "odd",
    ]
    private static let destinations = [
        "Storage/get", "Storage/get", "Storage#1/get", "Storage#7/get", "Storage", "Notes", "bus/create", "bus/ps",
        "bus/modules", "bus/monitor", "Index/find", "Storage@berlin/get", "module/setUp", "/",
    ]
    private static let names = ["found", "found", "saved", "x"]
    private static let urls = ["test://storage/a", "bad"]
    /// Members of a header, as they are written.
    private static let members = [
        #""deadline":1"#, #""deadline":86400000"#, #""credit":0"#, #""credit":3"#, #""depth":1"#, #""depth":99"#,
        #""missed":3"#, #""missed":-1"#, #""subscription":1"#, #""subscription":9007199254740991"#, #""more":true"#,
        #""ran":"no""#, #""code":"died""#, #""root":{"code":"x","module":"y"}"#, #""node":"berlin""#,
        #""auth":"skip""#, #""level":"basic""#, #""via":"report""#, #""object":"o""#, #""from":"Index""#,
    ]
    private static let bodies = [
        "", "{}", #"{"interface":"Storage","instance":7}"#, #"{"interface":"Storage","instance":0}"#,
        #"{"interface":"Storage"}"#, "[1,2]", "{",
    ]
    /// Members of a `node` frame's body, as they are written.
    private static let news = [
        #""ready":["Index"]"#, #""unready":["Index"]"#, #""ready":["Storage","Nobody"]"#, #""observes":{"saved":1}"#,
        #""observes":{"saved":99}"#, #""observes":{"saved":-1}"#, #""unobserves":["saved"]"#, #""subscription":5"#,
        #""released":[7,8]"#, #""released":[1]"#, #""ended":[1,2]"#, #""ended":"x""#, #""more":true"#, #""anew":true"#,
        #""rows":{"Index":{"level":"topout"}}"#, #""rows":{"Index":{"level":"middle","nodes":["tokyo"]}}"#,
        #""series":9"#, #""counts":{"found":4}"#, #""protocol":1,"node":"tokyo","app":"test""#, #""unknown":[{}]"#,
    ]

    init(_ input: InputReader, _ bus: TestBus) throws {
        (self.input, self.bus) = (input, bus)
        store = try bus.module(
            "Storage", ["observes": [], "interfaces": ["Storage": ["instances": "multiple"]]])
        notes = try bus.module("Notes", ["observes": ["found"]])
        link = try TestNodes.link(of: bus)
        try join()
    }

    var isAtEnd: Bool { input.isAtEnd }

    /// Connects the node anew. It says what berlin says of itself, or what the input has.
    private mutating func join() throws {
        let line = try TestNodes.line(to: "tokyo", of: bus)
        self.line = line
        guard input.choice(8) > 0 else { return }
        let facts = try line.expect(["kind": "node"]).json.object ?? []
        try line.send(["kind": "node"], body: .object(facts.map { $0.name == "node" ? .init("node", "tokyo") : $0 }))
    }

    mutating func step() throws {
        switch input.choice(16) {
        case 0, 1, 2: try sendNews()
        case 3, 4, 5, 6: try sendFrame()
        case 7:
            let header = input.bytes(Int(input.byte()))
            let body = input.bytes(Int(input.byte()))
            try line?.send(header: String(decoding: header, as: UTF8.self), body: String(decoding: body, as: UTF8.self))
        case 8: try line?.send(bytes: input.bytes(Int(input.byte())))
        case 9, 10: try request()
        case 11: try answerOfStorage()
        case 12: try answerOfTokyo()
        case 13: try store.send(["kind": "broadcast", "name": "saved"], body: ["n": 1])
        case 14: try lose()
        default: _ = try bus.operator().asked("bus/nodes")
        }
        try look()
    }

    // MARK: What the node sends

    private mutating func word(_ words: [String]) -> String { words[input.choice(words.count)] }

    private mutating func sendNews() throws {
        let members = (0..<1 + input.choice(3)).map { _ in word(Self.news) }
        try line?.send(header: #"{"kind":"node"}"#, body: "{\(members.joined(separator: ","))}")
    }

    private mutating func sendFrame() throws {
        let kind = word(Self.kinds)
        var members = [#""kind":"\#(kind)""#, #""from":\#(word(Self.froms))"#]
        if kind != "notice" { members.append(#""id":\#(1 + input.choice(12))"#) }
        switch kind {
        case "call": members.append(#""to":"\#(word(Self.destinations))""#)
        case "open": members.append(#""url":"\#(word(Self.urls))""#)
        case "report":
            members.append(#""to":"\#(word(Self.destinations))""#)
            members.append(#""name":"\#(word(Self.names))""#)
        case "notice": members.append(#""name":"\#(word(Self.names))","via":"broadcast""#)
        default: break
        }
        for _ in 0..<input.choice(3) { members.append(word(Self.members)) }
        try line?.send(header: "{\(members.joined(separator: ","))}", body: word(Self.bodies))
    }

    /// Tokyo answers the last request that came.
    private mutating func answerOfTokyo() throws {
        guard let line, let call = line.inbox.last(where: { $0.kind == "call" || $0.kind == "report" }) else { return }
        let body: JSON = call.to == "bus/create" ? ["instance": "Index#3"] : [:]
        try line.reply(to: call, body, input.choice(3) == 0 ? ["more": true] : [:])
    }

    // MARK: What this node does

    private mutating func request() throws {
        switch input.choice(5) {
        case 0: open.insert(try notes.call("bus/create", ["interface": "Index"], ["deadline": 1_000]))
        case 1: open.insert(try notes.call("Index#\(1 + input.choice(3))/find", nil, ["deadline": 1_000]))
        case 2: open.insert(try notes.report("seen", to: "Index", nil, ["deadline": 1_000]))
        case 3: if let id = open.min() { try notes.cancel(id) }
        default: open.insert(try notes.call("Index/find", nil, ["deadline": 1_000, "credit": 2]))
        }
    }

    private mutating func answerOfStorage() throws {
        guard let call = asked.popLast() else { return }
        if input.choice(4) == 0 { try store.fail(call, "died") } else { try store.reply(to: call) }
    }

    private mutating func lose() throws {
        if input.choice(2) == 0 {
            try link.asked("bus/nodeLost", ["node": "tokyo", "sent": .integer(Int64(input.short())), "reason": "gone"])
        }
        line?.close()
        line = nil
        if input.choice(2) == 0 { try join() }
    }

    // MARK: What must hold

    private mutating func look() throws {
        for frame in try store.drain() {
            if frame["node"] == "tokyo" {
                try demand(["Index", "Log", "operator"].contains(frame.from), "tokyo spoke as \(frame.from)")
            }
            if frame.kind == "call" { asked.append(frame) }
        }
        for frame in try notes.drain() { try take(frame) }
    }

    private mutating func take(_ frame: ReceivedFrame) throws {
        switch frame.kind {
        case "notice":
            try demand(["Index", "Log", "Storage"].contains(frame.from), "Notes got a notice of \(frame.from)")
        case "reply" where frame.isPartial: break
        case "reply", "error": try demand(open.remove(frame.id) != nil, "\(frame.id) was answered twice")
        default: break
        }
    }

    /// Ends the node, and waits for the answers that are left.
    mutating func end() throws {
        line?.close()
        for _ in 0..<100 where !open.isEmpty {
            if let frame = try notes.nextIfAny(within: .seconds(1)) { try take(frame) }
        }
        try demand(open.isEmpty, "\(open.count) requests of Notes have no answer")
    }
}
