public import FaultRecord

/// The judge of a run: it finds out from the logs of all processes whether the bus kept its
/// promises. docs/protocol.md states the promises. This is what follows from them for a run in
/// which anything may be killed at any time:
///
/// **Requests** (section 6, `RunJudge+Requests.swift`)
/// - Each has exactly one final answer, unless its own process or session was ended: then there
///   is no receiver. A Swift module survives the loss of its connection, and its runtime owes it
///   the answers (`died`). A peer without the runtime sees the end of its connection itself.
/// - `ran: no`: no process has begun to handle it. `ran: yes`, or a reply: exactly one has; for a
///   report, as many as its reply counts observers. `maybe`: at most one. A handler writes its
///   record before it acts. If it was killed before that record, it has not begun.
/// - No request is handled twice, whichever processes handle it.
/// - A reply belongs to its request: it carries the request's number.
/// - The code is one that an honest request can get (`AnswerCode.names`). No fault turns it into
///   `forbidden`, `failed` or `unknown-action`.
/// - `died`, `replaced`, `unavailable`, `unauthorized`, `unknown-instance` and a missed deadline
///   need a reason (`RunJudge+Failures.swift`): shortly before, a fault hit the caller, the
///   callee or the broker. The replacement of a module or of the broker is no reason.
/// - If a handler began when its process was already ending, its requests end with the process.
///
/// **Notices** (section 7, `RunJudge+Notices.swift`). Within one session of the publisher and one
/// session of the observer:
/// - `keep: all`: each number is the one before it plus 1.
/// - `keep: latest`: `missed` counts the numbers in between.
/// - The first number is no higher than the number of the first broadcast after the observer's session began.
///   The last number is the last one that the publisher had flushed, if the observer has flushed
///   later.
/// - When a session of either ends (the broker's death ends all), everything on its way is lost.
///   But that isn't silent: the observer is notified by `resumed`, and the publisher's session
///   gets another number.
/// - Under `replace: overlap`, observations pass to the new process in one step. No notice goes
///   to both processes, and together they get all notices.
/// - A process that loses its connection before its start is finished isn't notified by
///   `resumed`. So its notices count only from the end of its start.
///
/// - What a role retains comes first to whoever begins to observe it: the newest broadcast that the
///   broker had by then, marked as retained. Under `keep: latest`, and for a process that takes over, a
///   newer one may replace it. The broker is known to have had what any observer had before the session.
/// - Of an observation that replicas share, each broadcast goes to one replica. None gets it only if a
///   replica that might have been given it lost its session, or if none was there.
///
/// **Replicas** (section 6, `RunJudge+Keys.swift`)
/// - Requests with one key are handled by one process, whoever sends them, until a fault ends its
///   session, it is replaced or scaled away, or the broker dies. They begin in the order of their caller.
/// - A request that a replica handles fails only by a fault of that replica, of the caller or of the
///   broker. That the number of replicas changes is no reason.
///
/// **Several nodes** (docs/nodes.md)
/// - A request between two nodes may also fail because they were parted, by a fault of one of them,
///   of its link, of NATS or of the network (`Partings`). One that its nodes outlive is no reason.
/// - A broadcast of another node may be missing if a later notice says so (`missed`), under
///   `keep: all`, too. It is owed to an observer from `settling` after both nodes are connected and
///   the observer's session has begun, because the other broker must first learn of the observer.
/// - Handlers of requests from one process to another begin in the order of the requests.
///
/// **Processes** (sections 5 and 11, `RunJudge+Processes.swift`)
/// - No process is set up twice. Each ends only by a fault, by a replacement, or because it is
///   idle. The broker's death ends none.
/// - A session ends only by a fault. A replacement of the broker in place ends none.
public struct RunJudge {
    let logs: [ProcessLog]
    let faults: [Record]
    let living: Set<UInt32>
    let placement: RolePlacement
    /// The app's `federation.lost`, in nanoseconds.
    let lost: UInt64
    let partings: Partings
    let views: NodeViews
    /// The time of the run's end. What happens after it isn't judged.
    let end: UInt64
    /// The role of each process, by its process id.
    let roles: [Int32: UInt8]
    var requests: [UInt32: [RequestState]] = [:]
    public private(set) var summary = Summary()
    private(set) var violations: [Violation] = []

    /// - Parameters:
    ///   - logs: the logs of all processes of a run. The driver's log has the faults.
    ///   - living: the numbers of the processes that were alive at the end of the run.
    ///   - placement: the nodes of the app.
    public init(_ logs: [ProcessLog], living: Set<UInt32> = [], placement: RolePlacement = RolePlacement(nodes: 1)) {
        self.living = living
        self.placement = placement
        lost = RolePlacement.lost * 1_000_000
        let driver = Role.index(of: "driver")
        self.logs = logs.filter { $0.role != driver }
        faults = logs.filter { $0.role == driver }.flatMap(\.records).filter { $0.event == .fault }
        roles = Dictionary(logs.map { ($0.pid, $0.role) }, uniquingKeysWith: { $1 })
        partings = Partings(faults, lost: lost)
        views = NodeViews(self.logs, faults)
        end = faults.first { $0.kind == FaultKind.killLauncher.rawValue }?.time ?? .max
    }

    /// Judges the run; called once.
    public mutating func judge() -> [Violation] {
        readRequests()
        judgeRequests()
        judgeOrder()
        judgeKeys()
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
