internal import FaultRecord

/// Judges requests: each has one final answer, and a true one.
extension RunJudge {
    /// Brings together what callers and callees have logged about each request.
    mutating func readRequests() {
        for log in logs {
            let most = log.records.lazy.filter { $0.event == .sent }.map { RequestNumber($0.number).index }.max() ?? 0
            requests[log.process] = [RequestState](repeating: RequestState(), count: Int(most) + 1)
        }
        for log in logs { readCaller(log) }
        for log in logs { readCallee(log) }
    }

    private mutating func readCaller(_ log: ProcessLog) {
        guard var states = requests.removeValue(forKey: log.process) else { return }
        defer { requests[log.process] = states }
        // The requests of the current session. A peer numbers its requests in order.
        var ofSession = 1..<1
        for record in log.records {
            let index = Int(RequestNumber(record.number).index)
            switch record.event {
            case .sent:
                states[index].sentAt = record.time
                states[index].kind = record.kind
                states[index].callee = record.extra
                states[index].key = record.code
                states[index].parent = record.detail
                ofSession = ofSession.lowerBound..<max(ofSession.upperBound, index + 1)
                summarize { $0.sent[record.kind, default: 0] += 1 }
            case .answered:
                states[index].answers &+= 1
                states[index].code = record.code
                states[index].ran = record.ran
                states[index].extra = record.extra
                states[index].answeredAt = record.time
                let wait = record.time - min(record.time, states[index].sentAt)
                summarize {
                    $0.answers[UInt16(record.code) << 8 | UInt16(record.ran), default: 0] += 1
                    $0.longestWait = max($0.longestWait, wait)
                }
            case .answeredAgain: states[index].answers = 2
            case .wrongReply: states[index].hasWrongReply = true
            case .gaveUp:
                states[index].isOut = true
                summarize { $0.givenUp += 1 }
            case .closed:
                for index in ofSession where states[index].answers == 0 { states[index].isOut = true }
                ofSession = ofSession.upperBound..<ofSession.upperBound
            default: break
            }
        }
    }

    private mutating func readCallee(_ log: ProcessLog) {
        // The driver's own requests have the number 0.
        for record in log.records
        where (record.event == .started || record.event == .ended) && record.number > 0 {
            let number = RequestNumber(record.number)
            guard let states = requests[number.process], number.index < states.count,
                states[Int(number.index)].sentAt > 0
            else {
                found(
                    .wrongVerdict, "\(roleName(log)) handled a request that no peer has sent", request: record.number,
                    process: log.process)
                continue
            }
            if record.event == .started {
                requests[number.process]?[Int(number.index)].starts &+= 1
                requests[number.process]?[Int(number.index)].handler = log.process
                requests[number.process]?[Int(number.index)].startedAt = record.time
            } else {
                requests[number.process]?[Int(number.index)].ends &+= 1
            }
        }
    }

    mutating func judgeRequests() {
        for log in logs {
            let lived = living.contains(log.process)
            let drained = log.records.first { $0.event == .drained }?.time
            let ending = log.records.first { $0.event == .tearDown }?.time ?? .max
            for (index, state) in (requests[log.process] ?? []).enumerated() where state.sentAt > 0 {
                // A handler that begins after tearDown ends with its process, and so do its
                // requests.
                let isOwed =
                    (lived || drained.map { hadTime(state, until: $0) } == true)
                    && !(state.parent > 0 && state.sentAt > ending)
                let number = RequestNumber(process: log.process, index: UInt64(index)).value
                judge(state, number, isOwed)
                judgeFailure(state, number, log)
                if placement.hasNodes, nodes(of: state, log).count > 1 {
                    let hasFailed = state.answers == 1 && state.code != AnswerCode.reply
                    summarize {
                        $0.crossed += 1
                        $0.crossedFailures += hasFailed ? 1 : 0
                    }
                }
            }
        }
    }

    /// Whether a process that ended in order has waited for a request's answer for long enough. Between
    /// nodes a request may take longer than an ending process waits.
    private func hadTime(_ state: RequestState, until drained: UInt64) -> Bool {
        !placement.hasNodes || state.sentAt + UInt64(placement.patience.components.seconds) * 1_000_000_000 <= drained
    }

    private mutating func judge(_ state: RequestState, _ number: UInt64, _ lived: Bool) {
        let kind = RequestKind(rawValue: state.kind)
        let name = kind?.name ?? "?"
        if state.isOpen {
            if lived { found(.lost, "a request (\(name)) has no final answer", request: number) }
            summarize { $0.out += lived ? 0 : 1 }
        }
        if state.answers > 1 { found(.doubled, "a request (\(name)) was answered twice", request: number) }
        if state.starts > 1 && kind != .report {
            found(.doubled, "a request (\(name)) was run \(state.starts) times", request: number)
        }
        if state.hasWrongReply {
            found(.wrongVerdict, "the reply to a request (\(name)) was not its own or not whole", request: number)
        }
        guard state.answers == 1 else { return }
        if state.code == AnswerCode.reply {
            let runs = kind?.hasHandler == true ? kind == .report ? Int(state.extra) : 1 : 0
            if Int(state.starts) != runs || Int(state.ends) != runs {
                found(
                    .wrongVerdict,
                    "a request (\(name)) has a reply, and its handler began \(state.starts) and ended \(state.ends) "
                        + "times, not \(runs)", request: number)
            }
            return
        }
        let code = AnswerCode.name(state.code)
        if state.code == AnswerCode.unexpected {
            found(.wrongVerdict, "a request (\(name)) got an error that no fault explains", request: number)
        }
        switch Ran(rawValue: state.ran) {
        case .no where state.starts > 0:
            found(.wrongVerdict, "a request (\(name)) ended as \(code), `no`, and it was begun", request: number)
        case .yes where state.starts == 0 && kind?.hasHandler == true:
            found(
                .wrongVerdict, "a request (\(name)) ended as \(code), `yes`, and nobody has begun it", request: number)
        case nil: found(.wrongVerdict, "a request (\(name)) has no `ran`", request: number)
        default: break
        }
    }
}

extension RequestKind {
    /// Whether a module's handler logs that it runs for this kind.
    var hasHandler: Bool {
        switch self {
        case .create, .release, .bus, .event: false
        default: true
        }
    }
}
