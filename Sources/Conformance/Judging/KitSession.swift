internal import Glibc
import StrataCore

/// One connection of the client, on which the kit is the broker.
final class KitSession {
    /// The client's hello.
    private(set) var hello = ProbeFrame(headerBytes: [], header: .null, body: [])
    private let connection: ProbeConnection
    private let program: ProbeProgram
    private unowned let trial: KitTrial
    private var rules = FrameRules()
    /// Frames that came, and that no check has taken yet.
    private var waiting: [ProbeFrame] = []
    /// No check leaves as many; a client that sends more floods the kit.
    private static let mostWaiting = 1_000
    private var lastID: Int64 = 4_194_304

    init(_ connection: ProbeConnection, _ program: ProbeProgram, _ trial: KitTrial) {
        (self.connection, self.program, self.trial) = (connection, program, trial)
    }

    func close() { connection.close() }

    var offers: ClientOffers { ClientOffers(hello.json) }

    // MARK: the start

    func readHello() throws(Finding) { hello = try next("hello") { $0.kind == "call" && $0.to == "bus/hello" } }

    /// Answers hello, and takes the module through its start.
    func welcome(_ answer: HelloAnswer = HelloAnswer()) throws(Finding) {
        rules.limits = FrameLimits(frame: UInt32(answer.frameLimit), header: UInt32(answer.headerLimit))
        let settings = settings(answer)
        reply(to: hello, answer.body(observations: hello.json["observes"]?.array?.count ?? 0, settings: settings))
        guard hello.json["resumed"]?.bool != true else { return }
        try finishStep(call("module/setUp", ["env": "debug", "settings": settings, "launchOptions": [:]], credit: 0))
        try finishStep(call("module/initialize", credit: 0))
        try finishStep(call("module/didStart", credit: 0))
    }

    /// The settings that the module gets: if it declares some, only those.
    private func settings(_ answer: HelloAnswer) -> JSON {
        let isSeen = hello.json["settings"]?.array?.contains { $0.string == "probe.word" } ?? true
        return isSeen ? ["probe.word": .string(answer.word)] : [:]
    }

    /// Waits for the answer to one of the bus's own calls: a reply, or `unknown-action`.
    @discardableResult
    func finishStep(_ id: Int64) throws(Finding) -> ProbeFrame {
        let answer = try self.answer(to: id)
        guard answer.kind == "reply" || answer.code == "unknown-action" else {
            throw Finding(
                "a module with nothing to do for a step answers unknown-action; found \(answer.code)", in: .lifeCycle)
        }
        return answer
    }

    // MARK: sending

    /// Sends a frame's bytes, in pieces of this size.
    func send(bytes: [UInt8], pieces: Int = .max) throws(Finding) {
        try connection.sendAll(
            bytes, pieces: pieces, to: program, in: trial.place, until: Moment(after: trial.patience))
    }

    func send(_ header: JSON, _ body: [UInt8] = []) {
        // The client's end is found by what is expected next.
        try? send(bytes: prepared(header, body))
    }

    /// Returns a frame's bytes, which the check sends itself.
    func prepared(_ header: JSON, _ body: [UInt8] = []) -> [UInt8] {
        rules.sent(header)
        let head = header.encoded()
        trial.note("> \(ProbeFrame.shown(head, body))")
        return ProbeFrame.bytes(head, body)
    }

    func newID() -> Int64 {
        lastID += 4_194_304
        return lastID
    }

    /// Returns the header of a call, as the broker writes it.
    func header(
        _ to: String, _ id: Int64, deadline: Int64 = 30_000, credit: Int64 = 16, adding: JSON = [:]
    ) -> JSON {
        let header: JSON = [
            "kind": "call", "id": .integer(id), "to": .string(to),
            "from": to.hasPrefix("module/") ? "bus" : "Tester", "deadline": .integer(deadline),
            "credit": .integer(credit),
        ]
        return header.adding(adding)
    }

    /// Calls the client.
    /// - Returns: the call's number.
    func call(
        _ to: String, _ params: JSON? = nil, deadline: Int64 = 30_000, credit: Int64 = 16, adding: JSON = [:]
    ) -> Int64 {
        let id = newID()
        send(header(to, id, deadline: deadline, credit: credit, adding: adding), params?.encoded() ?? [])
        return id
    }

    func notice(_ subscription: Int64, _ name: String, _ params: JSON, adding: JSON = [:]) {
        let header: JSON = [
            "kind": "notice", "from": "Tester", "level": "basic", "name": .string(name), "via": "broadcast",
            "subscription": .integer(subscription),
        ]
        send(header.adding(adding), params.encoded())
    }

    func reply(to frame: ProbeFrame, _ body: JSON? = nil, more: Bool = false) {
        let header: JSON = ["kind": "reply", "id": .integer(frame.id)]
        send(more ? header.adding(["more": true]) : header, body?.encoded() ?? [])
    }

    func refuse(_ frame: ProbeFrame, _ code: String, ran: String, body: JSON? = nil, adding: JSON = [:]) {
        let header: JSON = [
            "kind": "error", "id": .integer(frame.id), "code": .string(code), "message": "the kit says so",
            "ran": .string(ran),
        ]
        send(header.adding(adding), body?.encoded() ?? [])
    }

    /// Ends the connection as a broker does: by an error without id, if there is a code.
    func endConnection(_ code: String?) {
        if let code {
            send(["kind": "error", "code": .string(code), "message": "the kit says so", "ran": "no"])
        }
        trial.note("the kit closes the connection")
        close()
    }

    // MARK: receiving

    /// Waits for a frame; others stay for later.
    /// - Parameter what: what the frame is, for the finding.
    func next(_ what: String, where matches: (ProbeFrame) -> Bool) throws(Finding) -> ProbeFrame {
        let moment = Moment(after: trial.patience)
        while true {
            if let index = waiting.firstIndex(where: matches) { return waiting.remove(at: index) }
            try takeFrames()
            if waiting.contains(where: matches) { continue }
            if connection.isAtEnd {
                // Its end says more than the connection's.
                _ = try program.waitForEnd(in: trial.place, until: Moment(after: .milliseconds(200)))
                let end = program.end.map { "the program ended: \($0)" } ?? "the client closed the connection"
                throw Finding("expected \(what); \(end)")
            }
            guard try trial.place.wait(program, connection.descriptor, Int16(POLLIN), until: moment) else {
                throw Finding("expected \(what); it didn't come\(others)")
            }
            connection.read()
        }
    }

    /// Waits until the client has closed the connection; what it sends before that is dropped.
    func waitForClose() throws(Finding) {
        let moment = Moment(after: trial.patience)
        while !connection.isAtEnd {
            guard try trial.place.wait(program, connection.descriptor, Int16(POLLIN), until: moment) else {
                throw Finding("expected that the client closes the connection")
            }
            connection.read()
        }
    }

    private var others: String {
        guard let last = waiting.last else { return "" }
        return ", and found \(ProbeFrame.shown(last.headerBytes, last.body))"
    }

    private func takeFrames() throws(Finding) {
        while let frame = try connection.nextFrame() {
            trial.note("< \(ProbeFrame.shown(frame.headerBytes, frame.body))")
            try rules.received(frame)
            waiting.append(frame)
            guard waiting.count <= Self.mostWaiting else {
                throw Finding("the client sent over \(Self.mostWaiting) frames that nothing asked for", in: .kinds)
            }
        }
    }

    /// Waits for the next answer to a call: a partial reply, a reply or an error.
    func answer(to id: Int64) throws(Finding) -> ProbeFrame {
        try next("an answer to \(id)") { ($0.kind == "reply" || $0.kind == "error") && $0.id == id }
    }

    /// Waits for the reply to a call.
    func value(of id: Int64) throws(Finding) -> JSON {
        let answer = try self.answer(to: id)
        guard answer.kind == "reply" else {
            throw Finding(
                "expected a reply to \(id); found the error \(answer.code): \(answer.header["message"]?.string ?? "")")
        }
        guard !answer.isPartial else { throw Finding("expected the final reply to \(id); found a partial one") }
        return answer.json
    }

    func ask(_ to: String, _ params: JSON? = nil) throws(Finding) -> JSON { try value(of: call(to, params)) }

    /// Waits for a request of the client, by its kind, and by where it goes if that is given.
    func request(_ kind: String, to: String? = nil) throws(Finding) -> ProbeFrame {
        try next("a \(kind)\(to.map { " to \($0)" } ?? "")") { $0.kind == kind && (to == nil || $0.to == to) }
    }

    /// Waits for the error that answers a call.
    @discardableResult
    func expectError(_ id: Int64, _ code: String) throws(Finding) -> ProbeFrame {
        let answer = try self.answer(to: id)
        guard answer.kind == "error", answer.code == code else {
            throw Finding(
                "expected the error \(code) for \(id); found \(answer.kind == "error" ? answer.code : "a reply")")
        }
        return answer
    }

    /// Shows that the client still serves.
    func expectItServes() throws(Finding) {
        try expect(try ask("Probe/echo", ["still": "there"]), ["still": "there"])
    }

    func expect(_ found: JSON?, _ wanted: JSON, _ what: String = "the value") throws(Finding) {
        guard let found, found.isSame(as: wanted) else {
            throw Finding("\(what) should be \(shown(wanted)); found \(found.map(shown) ?? "nothing")")
        }
    }

    private func shown(_ value: JSON) -> String { ProbeFrame.shown(value.encoded(), []) }
}
