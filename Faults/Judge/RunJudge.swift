public import FaultRecord

/// Says from the logs of all processes of a run whether the bus kept its promises.
/// What is promised is in docs/protocol.md; what follows from it for a run in which
/// anything may be killed at any time:
///
/// **Requests** (section 6, `RunJudge+Requests.swift`)
/// - Each has exactly one final answer, unless its own process or its own session
///   was ended by somebody: nobody is there to be told then. A Swift module whose
///   connection is lost lives on, and its runtime owes it the answers (`died`); a
///   peer without runtime sees the connection's end itself.
/// - `ran: no`: no process has begun to handle it. `ran: yes`, and a reply: exactly
///   one has; a reported notice as many as the reply has observers. `maybe`: at
///   most one. A handler that began and was killed before it could say so has not
///   begun as far as anybody can know: it writes first, and acts then.
/// - No request is handled twice, by whichever processes.
/// - A reply is the one to its own request: it carries its number.
/// - The code is one that an honest request can get (`AnswerCode.names`). No fault
///   makes it `forbidden`, `failed` or `unknown-action`.
/// - `died`, `replaced`, `unavailable`, `unauthorized`, `unknown-instance` and a missed deadline
///   have a reason (`RunJudge+Failures.swift`): something was done to the caller, the
///   callee or the broker shortly before. That a module or the broker was replaced
///   is none.
/// - What a handler asks for that began when its process was ending already ends with
///   the process.
///
/// **Notices** (section 7, `RunJudge+Notices.swift`). Within one session of the
/// publisher and one of the observer:
/// - `keep: all`: each number is the one before it plus one.
/// - `keep: latest`: what lies between is what `missed` says.
/// - The first one is at most the first that was broadcast after the observer's
///   session began; the last one is the last that the publisher had flushed, where
///   the observer has flushed later.
/// - Where a session of either ends (the broker's death ends all) what was on its
///   way is gone; but that isn't silent: the observer is told by `resumed`, and the
///   publisher's session has another number.
/// - Under `replace: overlap` observations pass to the new process in one step:
///   what one has, the other hasn't, and both together have all.
/// - A process that loses its connection before its start is done isn't told by
///   `resumed`. So its notices count from its start's end.
///
/// **Processes** (sections 5 and 11, `RunJudge+Processes.swift`)
/// - None is set up twice, and none ends but by a fault, a replacement, or for want
///   of requests; the broker's death ends none.
/// - No session ends but by a fault: where the broker is replaced in place, none.
public struct RunJudge {
    let logs: [ProcessLog]
    let faults: [Record]
    let living: Set<UInt32>
    /// When all ends: what comes behind it isn't judged.
    let end: UInt64
    /// The role of each process, by its id.
    let roles: [Int32: UInt8]
    var requests: [UInt32: [RequestState]] = [:]
    public private(set) var summary = Summary()
    private(set) var violations: [Violation] = []

    /// - Parameters:
    ///   - logs: of all processes of a run, the driver's with the faults among them.
    ///   - living: the processes that lived when the run was over, by number.
    public init(_ logs: [ProcessLog], living: Set<UInt32> = []) {
        self.living = living
        let driver = Role.index(of: "driver")
        self.logs = logs.filter { $0.role != driver }
        faults = logs.filter { $0.role == driver }.flatMap(\.records).filter { $0.event == .fault }
        roles = Dictionary(logs.map { ($0.pid, $0.role) }, uniquingKeysWith: { $1 })
        end = faults.first { $0.kind == FaultKind.killLauncher.rawValue }?.time ?? .max
    }

    /// Judges; called once.
    public mutating func judge() -> [Violation] {
        readRequests()
        judgeRequests()
        judgeNotices()
        judgeProcesses()
        measure()
        return violations
    }

    mutating func found(
        _ kind: Violation.Kind, _ text: String, request: UInt64? = nil, process: UInt32? = nil, time: UInt64 = 0
    ) {
        violations.append(
            Violation(
                kind: kind, text: text, request: request.map { RequestNumber($0) }, process: process, time: time))
    }

    mutating func summarize(_ change: (inout Summary) -> Void) { change(&summary) }

    func roleName(_ log: ProcessLog) -> String {
        Int(log.role) < Role.all.count ? Role.all[Int(log.role)].name : "nobody"
    }
}
