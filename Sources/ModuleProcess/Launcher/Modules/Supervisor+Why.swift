import StrataCore

/// `launcher/why`: why a module is as it is.
///
/// The launcher keeps what a module wrote, and tells it to who asks: the broker,
/// which would have to keep it for all modules all the time, holds no output.
extension Supervisor {
    /// `{"module", "restarts", "reason"?, "activity"?, "pid"?, "end"?, "lines"?}`: the
    /// reason is that of the last end or refusal, `lines` are those of a process
    /// that runs and isn't ready, `end` is how the last process ended:
    /// `{"pid", "exit", "code" | "signal", "startedAt", "at", "lines"}`, times in
    /// milliseconds since 1970.
    /// - Parameter most: the answer's bytes; the oldest lines are left out.
    func why(most: Int) -> [UInt8] {
        var (past, present) = (history.lastEnd?.lines ?? [], presentLines)
        while true {
            let answer = why(past: past, present: present).encoded()
            if answer.count <= most || (past.isEmpty && present.isEmpty) { return answer }
            if past.count >= present.count { past.removeFirst() } else { present.removeFirst() }
        }
    }

    /// The broker's word on actions that it refuses, because the module died of them.
    func saw(setAside actions: [String]) {
        for action in actions where !setAside.contains(action) {
            owner.console.say(
                of: name,
                "\(action) is set aside for \(seconds(process.backoff.reset)): it was alone open at "
                    + "three deaths; strata restart \(name) ends that")
        }
        setAside = actions
    }

    private var presentLines: [String] { machine.isReady ? [] : current?.lastLines.lines ?? [] }

    private func why(past: [String], present: [String]) -> JSON {
        var members: [JSON.Member] = [
            .init("module", .string(name)), .init("restarts", .integer(Int64(history.restarts))),
        ]
        if !machine.cause.isEmpty { members.append(.init("reason", .string(machine.cause))) }
        if let activity = machine.activity { members.append(.init("activity", .string(activity))) }
        if let pid = machine.pid { members.append(.init("pid", .integer(Int64(pid)))) }
        if let end = history.lastEnd { members.append(.init("end", Self.describe(end, past))) }
        if !present.isEmpty { members.append(.init("lines", .array(present.map { .string($0) }))) }
        return .object(members)
    }

    private static func describe(_ end: ProcessHistory.End, _ lines: [String]) -> JSON {
        let number: JSON.Member =
            switch end.exit {
            case .code(let code): .init("code", .integer(Int64(code)))
            case .signal(let signal): .init("signal", .integer(Int64(signal)))
            }
        return .object([
            .init("pid", .integer(Int64(end.pid))), .init("exit", .string(end.exit.description)), number,
            .init("startedAt", .integer(Int64(end.startedAt / 1_000))),
            .init("at", .integer(Int64(end.endedAt / 1_000))), .init("lines", .array(lines.map { .string($0) })),
        ])
    }
}
