import StrataCore

/// One event on its way to those that declared it, until all have answered.
final class Emission {
    enum Policy: String { case notify, all, any }

    let name: String
    let params: [UInt8]
    /// The emit's, as it stood in its header; empty for none, as in the bus's own.
    let trace: [UInt8]
    let meta: [UInt8]
    let policy: Policy
    /// For each answer, in milliseconds.
    let deadline: UInt64
    /// Who emitted it waits for its result; nil for the bus's own events.
    let request: CallReference?
    /// In start order.
    let listeners: [ModuleRecord]
    /// By listener; nil where none has come.
    private(set) var answers: [Answer?]
    /// How many have come, and their bytes.
    private var (count, bytes) = (0, 0)

    /// What one listener answered, or why it didn't.
    struct Answer {
        /// As the result has it: `{"module", "answer"}` or `{"module", "code"}`.
        var json: [UInt8]
        var isTrue: Bool
    }

    init(
        _ name: String, _ params: [UInt8], trace: [UInt8] = [], meta: [UInt8] = [], _ policy: Policy,
        deadline: UInt64, request: CallReference?, listeners: [ModuleRecord]
    ) {
        self.name = name
        self.params = params
        self.trace = trace
        self.meta = meta
        self.policy = policy
        self.deadline = deadline
        self.request = request
        self.listeners = listeners
        answers = Array(repeating: nil, count: listeners.count)
    }

    /// Whether somebody still wants its result: of the bus's own events nobody does.
    var isWanted: Bool { request?.isOpen ?? false }

    /// Takes a listener's answer, whose bytes are kept as they are. One that makes the
    /// reply too large is as one that is too large itself.
    func take(_ answer: Result<[UInt8], BusError>, of index: Int) {
        var entry = entry(answer, of: listeners[index])
        if bytes + entry.json.count > BodyLimit.eventAnswers {
            let error = BusError(.tooLarge, "the answers to an event have over \(BodyLimit.eventAnswers) bytes")
            entry = self.entry(.failure(error), of: listeners[index])
        }
        keep(entry, of: index)
    }

    private func entry(_ answer: Result<[UInt8], BusError>, of module: ModuleRecord) -> Answer {
        var entry = Answer(json: Array("{\"module\":\"\(module.name)\",".utf8), isTrue: false)
        do throws(BusError) {
            let body = try answer.get()
            entry.isTrue = try BodyLimit.ordinary.read(body, of: "an event's answer") == .bool(true)
            entry.json += "\"answer\":".utf8
            entry.json += body.isEmpty ? Array("null".utf8) : body
        } catch {
            entry.json += "\"code\":".utf8
            JSON.write(error.code.rawValue, to: &entry.json)
        }
        entry.json.append(UInt8(ascii: "}"))
        return entry
    }

    /// Keeps an answer; also one that another program took.
    func keep(_ answer: Answer, of index: Int) {
        answers[index] = answer
        count += 1
        bytes += answer.json.count
    }

    /// What the emitter gets, once it is known.
    var result: [UInt8]? {
        // Under `any` they come one after another.
        let isFirstTrue = policy == .any && count > 0 && answers[count - 1]?.isTrue == true
        guard isFirstTrue || count == listeners.count else { return nil }
        let there = answers.compactMap(\.self)
        let answer =
            switch policy {
            case .any: isFirstTrue
            case .notify: true
            case .all: there.allSatisfy(\.isTrue)
            }
        var result = Array("{\"answer\":\(answer),\"answers\":[".utf8)
        for (index, one) in there.enumerated() {
            if index > 0 { result.append(UInt8(ascii: ",")) }
            result += one.json
        }
        result += "]}".utf8
        return result
    }
}
