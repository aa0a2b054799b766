import StrataCore

/// What one process of a module was sent and did, in the recording's order.
struct RecordedLife {
    /// A call that the module got.
    struct Ask {
        let frame: RecordedFrame
        /// Who asked the broker for the instance that this call creates.
        var creator: String?
        /// The module's answers: partial replies, then a final one unless it was still open.
        var answers: [Answer] = []
    }

    /// A request of the module: a call, an open, a broadcast or a report.
    struct Own {
        let frame: RecordedFrame
        /// Whether its final answer was an error.
        var hasFailed = false
    }

    struct Answer: Equatable {
        /// An error's code; empty for a reply.
        let code: String
        let isPartial: Bool
        /// Nil if it isn't in the recording.
        let body: JSON?
        /// Whether the broker gave it, and not a module.
        let isOfBus: Bool

        init(code: String = "", isPartial: Bool = false, body: JSON?, isOfBus: Bool = false) {
            (self.code, self.isPartial, self.body, self.isOfBus) = (code, isPartial, body, isOfBus)
        }

        init(_ frame: RecordedFrame) {
            self.init(
                code: frame.code, isPartial: frame.isPartial, body: frame.body, isOfBus: frame.from == "bus")
        }

        /// What an error says of the handler; see section 12 of the protocol. A recording doesn't have it.
        var ran: String {
            switch code {
            case "died", "deadline-exceeded", "cancelled", "replaced": "maybe"
            case "unknown-action", "overloaded": "no"
            default: isOfBus ? "no" : "yes"
            }
        }
    }

    enum Step {
        /// The module gets `asks[index]`.
        case ask(Int)
        /// The module gives its next answer to `asks[index]`.
        case answered(Int)
        /// The broker takes `asks[index]` back.
        case withdraw(Int)
        /// The module sends `own[index]`.
        case own(Int)
        /// The module gets an answer to `own[index]`.
        case answer(Int, Answer)
        case notice(RecordedFrame)
        /// The module answers a report's notice.
        case noticeAnswered(Answer)
        /// The process ended, for this reason.
        case end(String)
    }

    /// Whether the recording has the start: without it, the module was already running.
    var hasStart = false
    var asks: [Ask] = []
    var own: [Own] = []
    var steps: [(step: Step, at: Int64)] = []
    /// Why the process ended, if that is in the recording.
    var end: String?

    /// Whether the process was to end.
    var isToEnd: Bool { end != nil || asks.contains { $0.frame.to == Self.lastStep } }

    /// Adds what came later.
    mutating func append(_ later: RecordedLife) {
        let (firstAsk, firstOwn) = (asks.count, own.count)
        asks += later.asks
        own += later.own
        steps += later.steps.map { step, at in
            let moved: Step =
                switch step {
                case .ask(let index): .ask(index + firstAsk)
                case .answered(let index): .answered(index + firstAsk)
                case .withdraw(let index): .withdraw(index + firstAsk)
                case .own(let index): .own(index + firstOwn)
                case .answer(let index, let answer): .answer(index + firstOwn, answer)
                case .notice, .noticeAnswered, .end: step
                }
            return (moved, at)
        }
        end = end ?? later.end
    }

    /// The calls with which the bus begins and ends the life of a process.
    static let firstStep = "module/setUp"
    static let lastStep = "module/tearDown"
}
