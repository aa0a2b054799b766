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
        /// Why the broker ended it before it was answered: `cancelled`, `deadline`, `died`.
        var withdrawn: String?
    }

    /// A request of the module: a call, an open, a broadcast or a report.
    struct Own {
        let frame: RecordedFrame
        var answerCount = 0
    }

    struct Answer: Equatable {
        /// An error's code; empty for a reply.
        let code: String
        let isPartial: Bool
        /// Nil if it isn't in the recording.
        let body: JSON?

        init(code: String = "", isPartial: Bool = false, body: JSON?) {
            (self.code, self.isPartial, self.body) = (code, isPartial, body)
        }

        init(_ frame: RecordedFrame) { self.init(code: frame.code, isPartial: frame.isPartial, body: frame.body) }
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

    /// Whether an ask is one of the steps of the life cycle that a process has once.
    static let firstStep = "module/setUp"
    static let lastStep = "module/tearDown"
}
