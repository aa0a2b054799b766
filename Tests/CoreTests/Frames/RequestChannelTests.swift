import Glibc
import StrataCore
import Testing

/// A client's channel, and the other side of it played by another on the same
/// loop.
@Suite(.timeLimit(.hang))
struct RequestChannelTests {
    private final class Pair {
        let loop: Loop
        let client: RequestChannel
        let server: FrameChannel
        var frames: [(header: JSON, body: [UInt8])] = []

        init(limits: FrameLimits = FrameLimits(frame: 1 << 20, header: 4_096)) throws {
            loop = try Loop()
            var ends: [Int32] = [0, 0]
            let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
            client = RequestChannel(FrameChannel(loop, socket: try Socket(loop, descriptor: ends[0]), limits: limits))
            server = FrameChannel(loop, socket: try Socket(loop, descriptor: ends[1]), limits: limits)
            server.onFrame = { [unowned self] header, body in
                let json: JSON = [
                    "kind": .string("\(header.kind.name)"), "id": .integer(Int64(header.id)),
                    "to": .string(header.to.text), "url": .string(header.url.text),
                    "credit": .integer(Int64(header.credit)), "deadline": .integer(header.deadline),
                    "code": .string(header.code.text), "message": .string(header.message.text),
                    "meta": .string(header.meta.text), "more": .bool(header.more),
                ]
                self.frames.append((json, Array(body)))
            }
        }

        /// Runs rounds until something is so; each waits for what comes.
        func run(until isSo: () -> Bool) {
            var rounds = 0
            while !isSo(), rounds < 10_000 {
                loop.runOnce(waiting: true)
                rounds += 1
            }
            #expect(rounds < 10_000, "it never came to be")
        }

        func answer(_ id: UInt64, _ body: String, more: Bool = false) {
            send(.reply, body) { writer in
                writer.integer("id", id)
                if more { writer.boolean("more", true) }
            }
        }

        func send(_ kind: Header.Kind, _ body: String = "", _ write: (inout HeaderWriter) -> Void) {
            Array(body.utf8).withUnsafeBytes { server.send(kind, room: 500, body: $0, write) }
        }

        func close() {
            client.close()
            server.close()
            loop.runOnce()
        }
    }

    @Test func answersAreMatchedToTheirRequests() throws {
        let pair = try Pair()
        defer { pair.close() }
        var answers: [String] = []
        let ids = ["a", "b", "c"].map { name in
            pair.client.request(to: "Test/\(name)", body: Array("\"\(name)\"".utf8), deadline: 50) { answer in
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
        let id = pair.client.request(.open, to: "test://a", members: [("level", "b\"c")], meta: Array("{}".utf8)) {
            answer in
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
        let id = pair.client.request(
            to: "Test/list", credit: 2, onPartial: { parts.append(String(decoding: $0, as: UTF8.self)) },
            onAnswer: { _ in isDone = true })
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
            pair.client.request(to: "Test/\(name)") { answer in
                if case .failure(let error) = answer { order.append("\(name) \(error.code) \(error.ran)") }
            }
        }
        pair.client.onEnd = { _, farewell in order.append("end \(farewell.map { "\($0.code)" } ?? "none")") }
        pair.run { pair.frames.count == 2 }
        pair.send(.error) { writer in
            writer.string("code", "shutting-down")
            writer.string("message", "bye")
        }
        pair.server.flush()
        pair.server.close()
        pair.run { order.count == 3 }
        #expect(order == ["a died maybe", "b died maybe", "end shutting-down"])
        #expect(pair.client.isClosed)
    }

    @Test func bytesThatAreNoFrameEndTheChannel() throws {
        let pair = try Pair(limits: FrameLimits(frame: 100, header: 50))
        defer { pair.close() }
        var ending = ""
        pair.client.onEnd = { why, _ in ending = "\(why)" }
        // 1 KiB more than its own limit is what a client takes.
        pair.send(.notice, String(repeating: "x", count: 2_000)) { _ in }
        pair.run { !ending.isEmpty }
        #expect(ending.contains("limit"))
    }

    @Test func aGivenUpRequestIsCancelled() throws {
        let pair = try Pair()
        defer { pair.close() }
        let id = pair.client.request(to: "Test/a") { _ in }
        pair.client.cancel(id)
        pair.run { pair.frames.count == 2 }
        #expect(pair.frames[1].header["kind"] == "cancel" && pair.frames[1].header["id"] == .integer(Int64(id)))
    }
}
