internal import FaultRecord

/// Failures that need a reason: a module or the broker that is replaced gives none.
extension RunJudge {
    /// Nanoseconds in which the broker's death is a reason, and those of what was
    /// done to a process: it may be halted, must start again, and be ready.
    private static let afterBroker: UInt64 = 2_000_000_000
    private static let afterProcess: UInt64 = 8_000_000_000

    /// What makes a request fail, by its code; the others are its caller's own wish,
    /// or the store's.
    private func reasons(_ state: RequestState) -> Set<FaultKind>? {
        let harm: Set<FaultKind> = [.killModule, .haltModule, .cutConnection, .halfFrame, .delayReader]
        switch AnswerCode.name(state.code) {
        case "died", "replaced", "unavailable", "unauthorized": return harm
        // An instance ends with its owner's process.
        case "unknown-instance": return harm.union([.restartModule])
        case "deadline-exceeded":
            switch RequestKind(rawValue: state.kind) {
            // The one is meant to, the other waits for whomever it asks.
            case .hurried, .nested: return nil
            default: return harm
            }
        default: return nil
        }
    }

    /// A guest goes when it wants, and is nobody's to explain.
    mutating func judgeFailure(_ state: RequestState, _ number: UInt64, _ log: ProcessLog) {
        guard state.answers == 1, state.code != AnswerCode.reply, state.answeredAt < end, let reasons = reasons(state),
            RequestKind(rawValue: state.kind) != .guest, Role.all[Int(log.role)].player != .guest
        else { return }
        let isExplained = faults.contains { fault in
            guard fault.time <= state.answeredAt, let kind = FaultKind(rawValue: fault.kind) else { return false }
            switch kind {
            case .killBroker, .haltBroker: return fault.time + Self.afterBroker > state.sentAt
            case .restartModule where reasons.contains(kind):
                return fault.detail + 1 == UInt64(state.callee) && fault.time + Self.afterProcess > state.sentAt
            default:
                return reasons.contains(kind) && fault.time + Self.afterProcess > state.sentAt
                    && concerns(Int32(bitPattern: fault.extra), state, log)
            }
        }
        guard !isExplained, !isOfASecondReplacement(state, log) else { return }
        let (kind, code) = (RequestKind(rawValue: state.kind)?.name ?? "?", AnswerCode.name(state.code))
        found(
            .unexplainedFailure,
            "a request (\(kind)) ended as \(code), and nothing was done to caller, callee or broker",
            request: number)
    }

    /// Under `overlap` only one process finishes what it has beside the one that
    /// serves: where a row is replaced twice within its `stop`, the first one has to
    /// go at once, as a caller and as a callee.
    private func isOfASecondReplacement(_ state: RequestState, _ log: ProcessLog) -> Bool {
        [log.role, UInt8(truncatingIfNeeded: state.callee &- 1)].contains { role in
            Int(role) < Role.all.count && Role.all[Int(role)].overlaps
                && faults.count {
                    $0.kind == FaultKind.restartModule.rawValue && $0.detail == UInt64(role)
                        && $0.time <= state.answeredAt && $0.time + Self.afterProcess + 2_000_000_000 > state.sentAt
                } > 1
        }
    }

    /// Whether a process is the caller's, the callee's, or that of who is asked in between.
    private func concerns(_ pid: Int32, _ state: RequestState, _ log: ProcessLog) -> Bool {
        guard pid != log.pid else { return true }
        guard let role = roles[pid] else { return false }
        if UInt32(role) + 1 == state.callee { return true }
        return RequestKind(rawValue: state.kind) == .authorized && role == Role.index(of: "Guard")
    }
}
