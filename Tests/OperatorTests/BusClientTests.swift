import StrataCore
import StrataLoop
import StrataOperator
import StrataTesting
import TestSupport
import Testing

/// A client, and a bus on the same loop that the test plays.
@Suite(.timeLimit(.hang))
struct BusClientTests {
    private final class Pair {
        let loop: Loop
        let client: BusClient
        private let folder: TemporaryFolder
        private var listener: Listener?
        private var server: FrameChannel?
        /// The frames after hello.
        var frames: [(header: JSON, body: [UInt8])] = []
        var hellos: [String] = []
        /// Gets each call after hello.
        var onCall: (UInt64) -> Void = { _ in }

        /// Connects; the bus announces these limits.
        init(limits: String = "{}", role: BusClient.Role = .operator, runtime: String? = nil) throws {
            loop = try Loop()
            folder = try TemporaryFolder()
            client = BusClient(loop, path: folder.path + "/bus.sock", as: role, runtime: runtime)
            try listen(limits)
            try client.open()
        }

        func listen(_ limits: String = "{}") throws {
            listener = try Listener(loop, path: client.path) { [unowned self] in accept($0, limits) }
        }

        private func accept(_ socket: Socket, _ limits: String) {
            let server = FrameChannel(loop, socket: socket, limits: FrameLimits(frame: 1 << 20, header: 4_096))
            self.server = server
            socket.takeDescriptors()
            server.takesDescriptors = true
            server.onFrame = { [unowned self] header, body in
                if header.to.text == "bus/hello" {
                    hellos.append(String(decoding: body, as: UTF8.self))
                    return answer(header.id, #"{"app":"test","levels":["basic"],"limits":\#(limits)}"#)
                }
                let json: JSON = [
                    "kind": .string("\(header.kind.name)"), "id": .integer(Int64(header.id)),
                    "to": .string(header.to.text), "url": .string(header.url.text),
                    "credit": .integer(Int64(header.credit)), "deadline": .integer(header.deadline),
                    "code": .string(header.code.text), "message": .string(header.message.text),
                    "meta": .string(header.meta.text), "more": .bool(header.more),
                    "memory": .integer(header.memory),
                ]
                frames.append((json, Array(body)))
                if header.kind == .call { onCall(header.id) }
            }
        }

        /// Runs the loop until a condition holds.
        func run(until isSo: () -> Bool) {
            let isSo = loop.run(until: isSo)
            #expect(isSo, "it never came to be")
        }

        func answer(_ id: UInt64, _ body: String, more: Bool = false) {
            send(.reply, body) { writer in
                writer.integer("id", id)
                if more { writer.boolean("more", true) }
            }
        }

        func send(_ kind: Header.Kind, _ body: String = "", _ write: (inout HeaderWriter) -> Void) {
            Array(body.utf8).withUnsafeBytes { server?.send(kind, room: 500, body: $0, write) }
        }

        /// Ends the bus's side.
        func endServer() {
            server?.flush()
            server?.close()
            server = nil
            listener?.close()
            listener = nil
        }

        func close() {
            client.close()
            endServer()
            loop.runOnce()
            folder.remove()
        }
    }

    // MARK: The connection

    @Test func timeThatIsOverAtOnceEndsTheWait() throws {
        let pair = try Pair()
        defer { pair.close() }
        for _ in 0..<3 { #expect(!pair.client.run(0) { false }) }
    }

    @Test func helloSaysWhatTheClientIsAndIsTold() throws {
        let pair = try Pair(limits: #"{"frame":9000}"#, runtime: "tool 1")
        defer { pair.close() }
        #expect(pair.hellos == [#"{"protocol":1,"role":"operator","memory":true,"runtime":"tool 1"}"#])
        let welcome = try #require(pair.client.welcome)
        #expect(welcome.app == "test" && welcome.levels == ["basic"] && welcome.schemes.isEmpty)
        #expect(welcome.limits == FrameLimits(frame: 9_000, header: 16 << 10))
        let launcher = try Pair(role: .launcher)
        defer { launcher.close() }
        #expect(launcher.hellos == [#"{"protocol":1,"role":"launcher"}"#])
    }

    @Test(.promise("6.64")) func largeParamsGoInAMemoryFile() throws {
        let pair = try Pair(limits: #"{"frame":300000,"header":4096,"body":1000000}"#)
        defer { pair.close() }
        let body = [UInt8](repeating: UInt8(ascii: "7"), count: 900_000)
        pair.onCall = { pair.answer($0, "1") }
        #expect(try pair.client.send(Request(to: "A/b", body: body)) == [UInt8(ascii: "1")])
        #expect(pair.frames.contains { $0.body == body && $0.header["memory"] == 900_000 })
        // Longer ones, and those for another node.
        #expect(throws: ClientError.self) { try pair.client.send(Request(to: "A/b", body: body + body)) }
        pair.client.node = "berlin"
        #expect(throws: ClientError.self) { try pair.client.send(Request(to: "A/b", body: body)) }
    }

    @Test func itMayBeConnectedAgainAndSaysMeanwhileWhyItIsNot() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.endServer()
        pair.run { !pair.client.isConnected }
        let gone = #expect(throws: ClientError.self) { try pair.client.ask("bus/ping") }
        #expect(
            gone?.description == "the connection to the bus at \(pair.client.path) ended: the connection was closed")
        let nobody = #expect(throws: ClientError.self) { try pair.client.open() }
        #expect(nobody?.description == "no bus at \(pair.client.path): nothing is there")
        try pair.listen()
        pair.onCall = { pair.answer($0, "[]") }
        try pair.client.open()
        #expect(try pair.client.ask("bus/ping") == [] && pair.client.ending == nil)
    }

    /// A request after hello is answered after hello.
    @Test func aRequestMayBeSentBeforeHelloIsAnswered() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.client.close()
        var order: [String] = []
        try pair.client.connect { _ in order.append("hello") }
        pair.onCall = { pair.answer($0, "1") }
        pair.client.ask("bus/ping") { _ in order.append("ping") }
        pair.run { order.count == 2 }
        #expect(order == ["hello", "ping"])
    }

    @Test func aLinkTriesUntilTheBusIsThereAndAgainWhereItEnds() throws {
        let pair = try Pair()
        defer { pair.close() }
        let link = BusLink(pair.client)
        var ups: [Bool] = []
        var downs: [String] = []
        link.onUp = { ups.append($0 != nil) }
        link.onDown = { downs.append($0) }
        pair.client.close()
        pair.endServer()
        link.connect()
        var refused: BusError?
        link.send(Request(to: "bus/ping")) { if case .failure(let error) = $0 { refused = error } }
        #expect(refused?.code == .unavailable && !link.isUp)
        pair.loop.runOnce(waiting: true)
        try pair.listen()
        pair.run { link.isUp }
        pair.endServer()
        pair.run { !downs.isEmpty }
        try pair.listen()
        pair.run { link.isUp }
        #expect(ups == [false, true] && downs == ["the connection was closed"])
        link.close()
    }

    // MARK: Waiting

    @Test func whatAnActionAnswersIsWaitedForWithItsParts() throws {
        let pair = try Pair()
        defer { pair.close() }
        pair.onCall = { id in
            pair.answer(id, "1", more: true)
            pair.answer(id, "2")
        }
        var parts: [[UInt8]] = []
        var request = Request(to: "Test/list")
        request.onPartial = { parts.append($0) }
        #expect(try pair.client.send(request) == Array("2".utf8) && parts == [Array("1".utf8)])
        pair.onCall = { pair.answer($0, "no JSON") }
        let error = #expect(throws: ClientError.self) { try pair.client.ask("bus/stats") }
        #expect(error?.description == "the bus's answer to bus/stats is not JSON")
    }

    @Test func aBusThatDoesNotAnswerAndAStreamThatIsQuietAreSaidToBeSo() throws {
        let pair = try Pair()
        defer { pair.close() }
        let silent = #expect(throws: ClientError.self) { try pair.client.ask("bus/ping", within: 1) }
        #expect(silent?.description.hasSuffix("accepts connections but does not answer: is it stopped?") == true)
        var monitor = Request.monitor()
        monitor.patience = 1
        let quiet = #expect(throws: ClientError.self) { try pair.client.send(monitor) }
        #expect(quiet?.description == "the stream was quiet for 1 ms")
        // The stream is cancelled, and the other one, too, because neither is awaited any more.
        pair.run { pair.frames.count == 4 }
        #expect(pair.frames.map { $0.header["kind"] } == ["call", "call", "cancel", "cancel"])
    }

    @Test func whatNoFrameHoldsIsNotSent() throws {
        let pair = try Pair(limits: #"{"frame":2000}"#)
        defer { pair.close() }
        let body = [UInt8](repeating: 49, count: 1_000)
        let error = #expect(throws: ClientError.self) { try pair.client.send(Request(to: "Test/a", body: body)) }
        #expect(error?.description.hasPrefix("the params have 1000 bytes") == true)
        #expect(pair.frames.isEmpty)
    }

    // MARK: Requests

    @Test func answersAreMatchedToTheirRequests() throws {
        let pair = try Pair()
        defer { pair.close() }
        var answers: [String] = []
        let ids = ["a", "b", "c"].map { name in
            pair.client.send(Request(to: "Test/\(name)", body: Array("\"\(name)\"".utf8), deadline: 50)) { answer in
                answers.append("\(name) \((try? answer.get()).map { String(decoding: $0, as: UTF8.self) } ?? "error")")
            }
        }
        #expect(Set(ids).count == 3)
        pair.run { pair.frames.count == 3 }
        #expect(pair.frames[1].header["to"] == "Test/b" && pair.frames[1].header["deadline"] == 50)
        #expect(pair.frames[1].body == Array("\"b\"".utf8))
        for id in ids.reversed() { pair.answer(id, "\(id)") }
        pair.run { answers.count == 3 }
        #expect(answers == ["c \(ids[2])", "b \(ids[1])", "a \(ids[0])"])
    }

    @Test func anErrorHasItsCodeMessageAndBody() throws {
        let pair = try Pair()
        defer { pair.close() }
        var error: BusError?
        var request = Request(.open, to: "test://a")
        request.members = [("level", "b\"c")]
        request.meta = Array("{}".utf8)
        let id = pair.client.send(request) { answer in
            if case .failure(let failure) = answer { error = failure }
        }
        pair.run { pair.frames.count == 1 }
        #expect(pair.frames[0].header["kind"] == "open" && pair.frames[0].header["url"] == "test://a")
        #expect(pair.frames[0].header["meta"] == "{}")
        pair.send(.error, "[1]") { writer in
            writer.integer("id", id)
            writer.string("code", "Test.no")
            writer.string("message", "because \"it\"")
            writer.string("ran", "yes")
        }
        pair.run { error != nil }
        #expect(error?.code.rawValue == "Test.no" && error?.message == "because \"it\"")
        #expect(error?.ran == .yes && error?.body == Array("[1]".utf8))
    }

    @Test func eachPartialReplyIsPaidWithACredit() throws {
        let pair = try Pair()
        defer { pair.close() }
        var parts: [String] = []
        var isDone = false
        var request = Request(to: "Test/list")
        request.credit = 2
        request.onPartial = { parts.append(String(decoding: $0, as: UTF8.self)) }
        let id = pair.client.send(request) { _ in isDone = true }
        pair.run { pair.frames.count == 1 }
        #expect(pair.frames[0].header["credit"] == 2)
        for part in 1...3 { pair.answer(id, "\(part)", more: true) }
        pair.answer(id, "4")
        pair.run { isDone && pair.frames.count == 4 }
        #expect(parts == ["1", "2", "3"])
        #expect(pair.frames[1...].allSatisfy { $0.header["kind"] == "credit" && $0.header["credit"] == 1 })
    }

    @Test func callsOfTheOtherSideAreAnswered() throws {
        let pair = try Pair()
        defer { pair.close() }
        var cancelled: [UInt64] = []
        pair.client.onCall = { call in
            if call.to == "launcher/start" {
                pair.client.reply(call.id)
            } else {
                pair.client.fail(call.id, BusError(.failed, "no \(call.to) of \(call.from)"))
            }
        }
        pair.client.onCancel = { cancelled.append($0) }
        for (id, to) in [(7, "launcher/start"), (8, "launcher/dance")] as [(UInt64, String)] {
            pair.send(.call) { writer in
                writer.integer("id", id)
                writer.string("to", to)
                writer.string("from", "bus" as StaticString)
            }
        }
        pair.send(.cancel) { $0.integer("id", 8) }
        pair.run { pair.frames.count == 2 && !cancelled.isEmpty }
        #expect(pair.frames[0].header["kind"] == "reply" && pair.frames[0].header["id"] == 7)
        #expect(
            pair.frames[1].header["code"] == "failed" && pair.frames[1].header["message"] == "no launcher/dance of bus")
        #expect(cancelled == [8])
    }

    @Test func creditOfACallIsToldAndPartsAreSent() throws {
        let pair = try Pair()
        defer { pair.close() }
        var credits: [UInt64] = []
        pair.client.onCall = { call in
            credits.append(call.credit)
            pair.client.replyPartially(call.id, Array("1".utf8))
        }
        pair.client.onCredit = { credits += [$0, $1] }
        pair.send(.call) { writer in
            writer.integer("id", 7)
            writer.string("to", "launcher/logs" as StaticString)
            writer.integer("credit", 3)
        }
        pair.send(.credit) { writer in
            writer.integer("id", 7)
            writer.integer("credit", 2)
        }
        pair.run { pair.frames.count == 1 && credits.count == 3 }
        #expect(credits == [3, 7, 2])
        #expect(pair.frames[0].header["kind"] == "reply" && pair.frames[0].header["more"] == true)
    }

    @Test func theEndAnswersEveryOpenRequestThenTellsWhatWasSaidLast() throws {
        let pair = try Pair()
        defer { pair.close() }
        var order: [String] = []
        for name in ["a", "b"] {
            pair.client.send(Request(to: "Test/\(name)")) { answer in
                if case .failure(let error) = answer { order.append("\(name) \(error.code) \(error.ran)") }
            }
        }
        pair.client.onEnd = { order.append("end \($0)") }
        pair.run { pair.frames.count == 2 }
        pair.send(.error) { writer in
            writer.string("code", "shutting-down")
            writer.string("message", "bye")
        }
        pair.endServer()
        pair.run { order.count == 3 }
        #expect(order == ["a died maybe", "b died maybe", "end bye"])
        #expect(!pair.client.isConnected && pair.client.ending == "shutting-down: bye")
    }

    @Test func bytesThatAreNoFrameEndTheChannel() throws {
        let pair = try Pair(limits: #"{"frame":100,"header":50}"#)
        defer { pair.close() }
        var ending = ""
        pair.client.onEnd = { ending = $0 }
        // A client accepts 1 KiB more than its own limit.
        pair.send(.notice, String(repeating: "x", count: 2_000)) { _ in }
        pair.run { !ending.isEmpty }
        #expect(ending.contains("limit"))
    }

    @Test func aGivenUpRequestIsCancelled() throws {
        let pair = try Pair()
        defer { pair.close() }
        let id = pair.client.send(Request(to: "Test/a")) { _ in }
        pair.client.cancel(id)
        pair.run { pair.frames.count == 2 }
        #expect(pair.frames[1].header["kind"] == "cancel" && pair.frames[1].header["id"] == .integer(Int64(id)))
    }
}
