import StrataCore
import StrataTesting
import Testing

/// The protocol's section 13: the bounds of a body that the broker reads itself. Each bound is
/// tested from one below to one above it.
@Suite(.timeLimit(.hang))
struct BodyLimitTests: AuthorizationSuite {
    static let bytes = 65_536
    static let values = 4_096

    /// Returns a body of this many bytes, with an unknown member.
    private func body(_ members: JSON, bytes: Int) -> JSON {
        let empty = members.with(["x": ""])
        return members.with(["x": .filler(bytes - empty.encoded().count)])
    }

    /// Returns a body of this many values.
    private func body(_ members: JSON, values: Int) -> JSON {
        let said = (members.object?.count ?? 0) + 2
        return members.with(["x": .array(Array(repeating: 0, count: values - said))])
    }

    // MARK: hello

    @Test(.promise("2.3"), arguments: [-1, 0, 1])
    func aFrameBeforeHelloIsJudgedByItsLength(beyond: Int) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let header = Array(#"{"kind":"call","id":1,"to":"bus/hello"}"#.utf8)
            let hello = body(["protocol": 1, "module": "Ant"], bytes: Self.bytes + beyond - 4 - header.count)
            let frame = FrameBytes.frame(header, body: hello.encoded())
            let peer = try bus.connect("Ant", answersLifecycle: true)
            guard beyond <= 0 else {
                // Only the lengths are sent: the broker waits for nothing else.
                try peer.send(bytes: Array(frame[..<8]))
                let error = try peer.expectEnd("too-large")
                #expect(error.message.contains("65537") && error.message.contains("bus/register"), "\(error)")
                return
            }
            try peer.send(bytes: frame)
            try peer.expectReply(to: 1)
            try peer.becomeReady()
            // From now on the app's frame limit applies.
            let large = body([:], bytes: 1 << 20)
            try peer.expectError(to: try peer.call("Nobody/act", large), "unknown-interface")
        }
    }

    @Test(.promise("13.18"), arguments: [-1, 0, 1])
    func helloReadsSoManyValues(beyond: Int) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect("Ant", answersLifecycle: true)
            let hello = body(["protocol": 1, "module": "Ant"], values: Self.values + beyond)
            let id = try peer.call("bus/hello", hello)
            guard beyond <= 0 else {
                let error = try peer.expectRefusal(of: id, "too-large")
                #expect(error.message.contains("4096"), "\(error)")
                return
            }
            try peer.expectReply(to: id)
        }
    }

    // MARK: actions

    static let actions = [
        "observe", "unobserve", "register", "unregister", "create", "release", "canOpen", "monitor", "metrics",
        "contracts", "vouch", "retire", "moduleState",
    ]

    private func asker(_ bus: TestBus, of action: String) throws -> RawPeer {
        switch action {
        case "monitor", "metrics", "contracts": try bus.operator()
        case "vouch", "retire", "moduleState": try bus.launcher()
        default: try bus.module("Ant")
        }
    }

    /// A body with `module` of a wrong type is refused once it is read.
    private func ask(_ action: String, _ body: JSON, isRead: Bool) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try asker(bus, of: action)
            let answer = try peer.ask("bus/\(action)", body)
            #expect((answer.code == "too-large") == !isRead, "\(action): \(answer)")
            if !isRead { #expect(answer.ran == "no" && answer.message.contains("bus/\(action)"), "\(answer)") }
            try peer.asked("bus/ping")
        }
    }

    @Test(.promise("13.18"), arguments: actions, [-1, 0, 1])
    func eachActionReadsSoManyBytes(action: String, beyond: Int) throws {
        try ask(action, body(["module": 5], bytes: Self.bytes + beyond), isRead: beyond <= 0)
    }

    @Test(.promise("13.18"), arguments: actions, [-1, 0, 1])
    func eachActionReadsSoManyValues(action: String, beyond: Int) throws {
        try ask(action, body(["module": 5], values: Self.values + beyond), isRead: beyond <= 0)
    }

    /// The bytes are counted before anything is read.
    @Test(.promise("13.18")) func whatIsTooLargeIsNotRead() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            let text = String(repeating: "{", count: Self.bytes)
            try peer.send(header: #"{"kind":"call","id":900,"to":"bus/observe"}"#, body: text)
            try peer.expectError(to: 900, "bad-params")
            try peer.send(header: #"{"kind":"call","id":901,"to":"bus/observe"}"#, body: text + "{")
            try peer.expectError(to: 901, "too-large")
        }
    }

    @Test(.promise("13.18")) func theLongestObjectIsObserved() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.asked("bus/observe", ["name": "n", "object": .filler(16 << 10)])
            try peer.refused("bus/observe", ["name": "n", "object": .filler((16 << 10) + 1)], with: "bad-params")
        }
    }

    // MARK: answers

    @Test(.promise("13.19"), arguments: [-1, 0, 1])
    func anAuthorizersAnswerHasABound(beyond: Int) throws {
        try run { _, cast in
            for answer in [
                body(["allow": true], bytes: Self.bytes + beyond), body(["allow": true], values: Self.values + beyond),
            ] {
                let id = try cast.hand.call("Shop/buy")
                try cast.gate.reply(to: try cast.gate.expectCall("Guard/authorize"), answer)
                if beyond <= 0 {
                    try cast.shop.reply(to: try cast.shop.expectCall("Shop/buy"))
                    try cast.hand.expectReply(to: id)
                } else {
                    let error = try cast.hand.expectError(to: id, "unauthorized", ran: "no")
                    #expect(error.message.contains("the authorizer's answer"), "\(error)")
                    try cast.shop.expectNothing()
                }
            }
        }
    }

    @Test(.promise("13.19"), arguments: [-1, 0, 1])
    func anAnswerToAnEventHasABound(beyond: Int) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let listeners = try ["Ant", "Bee", "Cat"].map { try bus.module($0, ["events": ["e"]]) }
            let tool = try bus.operator()
            let id = try tool.call("bus/emit", nil, ["name": "e", "meta": ["policy": "all"]])
            let long: JSON = .filler(Self.bytes + beyond - 2)
            let many: JSON = .array(Array(repeating: 0, count: Self.values + beyond - 1))
            for (listener, answer) in zip(listeners, [long, true, many]) {
                try listener.reply(to: try listener.expectCall("module/event"), answer)
            }
            let told = try tool.expectReply(to: id).json["answers"]?.array ?? []
            #expect(told[1] == ["module": "Bee", "answer": true])
            for (index, answer) in [(0, long), (2, many)] {
                #expect(told[index]["answer"] == (beyond <= 0 ? answer : Optional<JSON>.none))
                #expect(told[index]["code"] == (beyond <= 0 ? Optional<JSON>.none : "too-large"))
            }
        }
    }

    @Test(.promise("13.19")) func allAnswersToAnEventHaveABound() throws {
        try MemoryBus.run(.sixModules { $0.guests = .init(rank: 2, most: 20) }) { bus in
            // Sixteen answers fill it to the last byte.
            let guests = try (10..<28).map { try bus.module("Guest\($0)", ["events": ["e"]]) }
            let tool = try bus.operator()
            let id = try tool.call("bus/emit", nil, ["name": "e"])
            let around = #"{"module":"Guest10","answer":""}"#.utf8.count
            for guest in guests.dropLast(2) {
                try guest.reply(to: try guest.expectCall("module/event"), .filler(Self.bytes - around))
            }
            try guests[16].reply(to: try guests[16].expectCall("module/event"), true)
            try guests[17].fail(try guests[17].expectCall("module/event"), "Guest.tired")
            let told = try tool.expectReply(to: id).json["answers"]?.array ?? []
            #expect(told.prefix(16).allSatisfy { $0["answer"]?.string?.utf8.count == Self.bytes - around })
            #expect(told[16] == ["module": "Guest26", "code": "too-large"])
            #expect(told[17]["code"] != nil)
        }
    }

    @Test(
        .promise("13.19"),
        .disabled(if: TestBus.isHandedOverEachRound, "4 MiB would be written down in each round"),
        arguments: [-1, 0, 1])
    func theLaunchersTableHasABound(beyond: Int) throws {
        try MemoryBus.run(.sixModules()) { bus in
            func table(_ settings: JSON) -> AppTable { .sixModules { $0.settings = settings } }
            let rest = table(["x": ""]).json().encoded().count
            let answer = try bus.reload(table(["x": .filler((4 << 20) + beyond - rest)]))
            #expect((answer.code == "too-large") == (beyond > 0), "\(answer.header)")
            let said = try #require(table(["x": []]).json().values)
            let many = try bus.reload(table(["x": .array(Array(repeating: 0, count: 262_144 + beyond - said))]))
            #expect((many.code == "too-large") == (beyond > 0), "\(many.header)")
        }
    }
}

extension JSON {
    /// The number of values in this value.
    fileprivate var values: Int? {
        switch self {
        case .array(let elements): elements.reduce(1) { $0 + ($1.values ?? 0) }
        case .object(let members): members.reduce(1) { $0 + ($1.value.values ?? 0) }
        case .null, .bool, .integer, .number, .string: 1
        }
    }
}
