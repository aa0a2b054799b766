internal import FaultRecord

/// Failures that need a reason. The replacement of a module or of the broker is no reason.
extension RunJudge {
    /// The nanoseconds for which the broker's death is a reason. A fault of a process is a reason
    /// for longer, because the process may be halted, must start again, and must become ready.
    private static let afterBroker: UInt64 = 2_000_000_000
    private static let afterProcess: UInt64 = 8_000_000_000

    /// Returns the kinds of faults that explain an answer's code; nil if it needs no explanation.
    /// Such a failure is the caller's own wish, or comes from the store.
    private func reasons(_ state: RequestState) -> Set<FaultKind>? {
        let harm: Set<FaultKind> = [.killModule, .haltModule, .cutConnection, .halfFrame, .delayReader]
        switch AnswerCode.name(state.code) {
        case "died", "replaced", "unavailable", "unauthorized": return harm
        // An instance ends with its owner's process.
        case "unknown-instance": return harm.union([.restartModule, .scale])
        case "deadline-exceeded":
            switch RequestKind(rawValue: state.kind) {
            // A hurried request is meant to fail, and a nested one waits for another callee.
            case .hurried, .nested: return nil
            default: return harm
            }
        default: return nil
        }
    }

    /// Judges a request that failed. Requests of and to guests need no reason, because guests
    /// leave when they want.
    mutating func judgeFailure(_ state: RequestState, _ number: UInt64, _ log: ProcessLog) {
        guard state.answers == 1, state.code != AnswerCode.reply, state.answeredAt < end, let reasons = reasons(state),
            RequestKind(rawValue: state.kind) != .guest, Role.all[Int(log.role)].player != .guest
        else { return }
        let nodes = nodes(of: state, log)
        let isExplained = faults.contains { fault in
            guard fault.time <= state.answeredAt, let kind = FaultKind(rawValue: fault.kind) else { return false }
            switch kind {
            case .killBroker, .haltBroker:
                return nodes.contains(fault.code) && fault.time + Self.afterBroker > state.sentAt
            case .killNode:
                return nodes.contains(fault.code) && fault.time + fault.number * 1_000_000 + lost > state.sentAt
            case .restartModule where reasons.contains(kind), .scale where reasons.contains(kind):
                return fault.detail + 1 == UInt64(state.callee) && fault.time + Self.afterProcess > state.sentAt
            default:
                return reasons.contains(kind) && fault.time + Self.afterProcess > state.sentAt
                    && (concerns(Int32(bitPattern: fault.extra), state, log)
                        || state.callee > 0 && fault.detail == UInt64(state.callee) && !hasHandler(state))
            }
        }
        guard !isExplained, !isOfASecondReplacement(state, log), !isOfAParting(state, log, nodes) else { return }
        let (kind, code) = (RequestKind(rawValue: state.kind)?.name ?? "?", AnswerCode.name(state.code))
        let callee = state.callee == 0 ? "" : " to \(Role.all[Int(state.callee) - 1].name)"
        found(
            .unexplainedFailure,
            "a request\(callee) (\(kind)) ended as \(code), and nothing was done to caller, callee or broker"
                + (nodes.count > 1 ? ", or between their nodes" : ""),
            request: number)
    }

    /// Returns the nodes that a request involves: its caller's, and those that may have its callee.
    func nodes(of state: RequestState, _ log: ProcessLog) -> [UInt8] {
        let callee = Int(state.callee) - 1
        guard callee >= 0, callee < Role.all.count else { return [log.node] }
        let callees = placement.callees(of: Role.all[callee], from: log.node)
        return callees.contains(log.node) ? callees : callees + [log.node]
    }

    /// Whether the failure comes from two nodes that were parted.
    private func isOfAParting(_ state: RequestState, _ log: ProcessLog, _ nodes: [UInt8]) -> Bool {
        nodes.contains { node in
            node != log.node
                && partings.explain(
                    log.node, node, role: UInt8(truncatingIfNeeded: state.callee &- 1), sent: state.sentAt,
                    answered: state.answeredAt)
        }
    }

    /// Whether the failure comes from a second replacement of a row.
    ///
    /// Under `overlap`, only one process may finish its work beside the one that serves. If a row
    /// is replaced twice within its `stop`, the first process must end at once, as a caller and
    /// as a callee.
    private func isOfASecondReplacement(_ state: RequestState, _ log: ProcessLog) -> Bool {
        [log.role, UInt8(truncatingIfNeeded: state.callee &- 1)].contains { role in
            Int(role) < Role.all.count && Role.all[Int(role)].overlaps
                && faults.count {
                    $0.kind == FaultKind.restartModule.rawValue && $0.detail == UInt64(role)
                        && $0.time <= state.answeredAt && $0.time + Self.afterProcess + 2_000_000_000 > state.sentAt
                } > 1
        }
    }

    /// Whether it is known which replica had a request.
    private func hasHandler(_ state: RequestState) -> Bool {
        state.handler > 0 && state.callee > 0 && Role.all[Int(state.callee) - 1].replicas != nil
    }

    /// Whether a process is the caller, the callee, or the authorizer that is asked in between.
    private func concerns(_ pid: Int32, _ state: RequestState, _ log: ProcessLog) -> Bool {
        guard pid != log.pid else { return true }
        guard let role = roles[pid] else { return false }
        if UInt32(role) + 1 == state.callee {
            return !hasHandler(state) || logs.contains { $0.process == state.handler && $0.pid == pid }
        }
        return RequestKind(rawValue: state.kind) == .authorized && role == Role.index(of: "Guard")
    }
}
