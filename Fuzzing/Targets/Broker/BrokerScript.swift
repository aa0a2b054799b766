import Glibc
import StrataCore

/// Runs a script, which is an input: operations of one byte each, and their operands. The byte's
/// lower half is the operation. If its highest bit is set, the broker does nothing before the
/// next operation.
struct BrokerScript {
    private var input: InputReader
    private let bus: FuzzBus
    private static let most = 96

    init(_ input: InputReader, _ bus: FuzzBus) {
        self.input = input
        self.bus = bus
    }

    mutating func run() throws(FuzzFinding) {
        for _ in 0..<Self.most where !input.isAtEnd {
            let operation = input.byte()
            let place = input.choice(FuzzBus.places)
            try run(operation & 15, place)
            if operation < 128 { try bus.settle() }
        }
    }

    private mutating func run(_ operation: UInt8, _ place: Int) throws(FuzzFinding) {
        switch operation {
        case 0: try joinAsModule(place)
        case 1: try join(place, #"{"protocol":1,"role":"operator"}"#)
        case 2: try join(place, #"{"protocol":1,"role":"launcher"}"#)
        case 3: _ = try bus.connect(place, rank: nil)
        default: try go(on: operation, place)
        }
    }

    /// Runs an operation of a connected peer.
    private mutating func go(on operation: UInt8, _ place: Int) throws(FuzzFinding) {
        guard let peer = bus.peers[place], !peer.isFull else { return }
        switch operation {
        case 4, 5: sendFrame(peer, holding: operation == 5 ? Int(input.byte()) : 0)
        case 6:
            let header = input.bytes(Int(input.byte()))
            peer.send(header, input.bytes(Int(input.byte())))
        case 7: peer.send(bytes: input.bytes(Int(input.byte())))
        case 8: answer(peer)
        case 9: bus.close(place)
        case 10: peer.endWriting()
        case 11: peer.isPaused.toggle()
        case 12: flood(peer)
        case 13:
            usleep(UInt32(1 + input.choice(4)) * 1_000)
        case 14: callBroker(peer)
        default: rare(peer)
        }
    }

    // MARK: Joining

    private mutating func join(_ place: Int, _ hello: String, rank: Int? = nil) throws(FuzzFinding) {
        guard let peer = try bus.connect(place, rank: rank) else { return }
        peer.send(Array(#"{"kind":"call","id":\#(peer.nextID()),"to":"bus/hello"}"#.utf8), Array(hello.utf8))
    }

    private mutating func joinAsModule(_ place: Int) throws(FuzzFinding) {
        let number = input.choice(ScriptWords.modules.count)
        let name = ScriptWords.modules[number]
        let options = input.byte()
        func option(_ bit: UInt8) -> Bool { options & (1 << bit) != 0 }
        var interfaces = #""\#(name)":{"actions":{"go":{},"safe":{"auth":true},"authorize":{},"add":{}}}"#
        if option(0) { interfaces = #""\#(name)":{}"# }
        if option(1) { interfaces += #","Cart":{"instances":"multiple"}"# }
        var hello = #"{"protocol":1,"module":"\#(name)","interfaces":{\#(interfaces)}"#
        if option(2) { hello += #","observes":["n",{"name":"m","object":"o","keep":"latest"}]"# }
        if option(3) { hello += #","urls":[{"host":"h","path":"/\#(option(1) ? ":p" : "a")","to":"\#(name)/go"}]"# }
        if option(4) { hello += #","events":["e","app.moduleLost"]"# }
        if option(5) { hello += #","resumed":true"# }
        if option(7) { hello += #","token":"t\#(number)","requires":["Ant"]"# }
        // A reload may have changed the ranks, but a script's reloads change none of these.
        try join(place, hello + "}", rank: bus.table.modules.first { $0.name == name }?.rank)
        bus.peers[place]?.answersLifecycle = !option(6)
    }

    // MARK: Frames

    /// Sends a frame with the members that its kind needs, and some more.
    private mutating func sendFrame(_ peer: FuzzPeer, holding held: Int) {
        let kind = ScriptWords.kinds[input.choice(ScriptWords.kinds.count)]
        var members = [#""kind":"\#(kind)""#]
        if let id = id(peer, kind) { members.append(#""id":\#(id)"#) }
        switch kind {
        case "call", "report": members.append(#""to":"\#(word(ScriptWords.destinations))""#)
        case "open": members.append(#""url":"\#(word(ScriptWords.urls))""#)
        case "credit": members.append(#""credit":\#(input.choice(4))"#)
        default: break
        }
        if kind == "report" || kind == "broadcast" { members.append(#""name":"\#(word(ScriptWords.names))""#) }
        for _ in 0..<input.choice(4) {
            let place = input.choice(ScriptWords.members.count + 2)
            if place < ScriptWords.members.count {
                members.append(ScriptWords.members[place])
            } else if let parent = peer.unanswered.last {
                members.append(#""parent":\#(parent)"#)
            }
        }
        peer.send(Array("{\(members.joined(separator: ","))}".utf8), body(), holding: held)
    }

    /// Returns an id for a frame of that kind; nil for none.
    private mutating func id(_ peer: FuzzPeer, _ kind: String) -> UInt64? {
        let choice = input.choice(16)
        switch kind {
        case "reply", "error": return choice < 14 ? peer.unanswered.last ?? 4_194_304 : UInt64(choice)
        case "cancel", "credit": return choice < 8 ? peer.previousID : UInt64(choice)
        case "broadcast" where choice < 8: return nil
        default: break
        }
        switch choice {
        case 12: return nil
        case 13: return 0
        case 14: return 9_007_199_254_740_992
        case 15: return peer.previousID
        default: return peer.nextID()
        }
    }

    private mutating func word(_ words: [String]) -> String { words[input.choice(words.count)] }

    private mutating func body() -> [UInt8] {
        let choice = input.choice(16)
        switch choice {
        case 10: return input.bytes(Int(input.byte()))
        case 11: return filler(1_000)
        case 12: return filler(8_000)
        case 13: return filler(20_000)
        case 14: return filler(70_000)
        default: return Array(ScriptWords.bodies[choice % ScriptWords.bodies.count].utf8)
        }
    }

    private func filler(_ count: Int) -> [UInt8] {
        [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "x"), count: count) + [UInt8(ascii: "\"")]
    }

    /// Sends one request several times, to fill queues.
    private mutating func flood(_ peer: FuzzPeer) {
        let opening =
            input.choice(2) == 0
            ? #""kind":"broadcast","name":"\#(word(ScriptWords.names))""#
            : #""kind":"call","to":"\#(word(ScriptWords.destinations))""#
        let count = 1 + input.choice(12)
        let body = body()
        for _ in 0..<count where !peer.isFull {
            peer.send(Array(#"{\#(opening),"id":\#(peer.nextID())}"#.utf8), body)
        }
    }

    private mutating func callBroker(_ peer: FuzzPeer) {
        let (action, body) = ScriptWords.actions[input.choice(ScriptWords.actions.count)]
        var members = ""
        if action == "emit" { members = #","name":"\#(word(ScriptWords.names))""# }
        if input.choice(2) == 1 { members += "," + word(ScriptWords.members) }
        peer.send(
            Array(#"{"kind":"call","id":\#(peer.nextID()),"to":"bus/\#(action)"\#(members)}"#.utf8), Array(body.utf8))
    }

    // MARK: Answers

    private mutating func answer(_ peer: FuzzPeer) {
        guard !peer.unanswered.isEmpty else { return }
        let place = input.choice(peer.unanswered.count)
        switch input.choice(8) {
        case 0, 1: peer.answer(place: place, isFinal: true, "reply", "", word(ScriptWords.bodies))
        case 2: peer.answer(place: place, isFinal: true, "reply", "", #"{"allow":true}"#)
        case 3, 4: peer.answer(place: place, isFinal: false, "reply", #","more":true"#, "1")
        case 5: peer.answer(place: place, isFinal: true, "error", #","code":"unknown-action""#)
        case 6: peer.answer(place: place, isFinal: true, "error", #","code":"Own.code","ran":"no""#, "{}")
        default: peer.answer(place: place, isFinal: true, "reply", "", bus.table.json().description)
        }
    }

    private mutating func rare(_ peer: FuzzPeer) {
        switch input.choice(8) {
        case 0: bus.shutDown()
        case 1, 2, 3, 4:
            let module = ScriptWords.modules[input.choice(3)]
            let number = input.choice(4)
            peer.send(
                Array(#"{"kind":"call","id":\#(peer.nextID()),"to":"bus/vouch"}"#.utf8),
                Array(#"{"module":"\#(module)","token":"t\#(number)","pid":\#(getpid())}"#.utf8))
        default: peer.release()
        }
    }
}
