internal import FaultRecord
internal import Strata

/// The broadcasts of a module in the fault run, numbered from 1 in each session.
extension Worker {
    /// Broadcasts at the role's rate, in bursts.
    func publish() async throws {
        let pad = String(repeating: "b", count: role.bytes)
        var owed = 0
        while !Task.isCancelled {
            try await sleep(milliseconds: 20)
            guard isLoading else { continue }
            owed += role.broadcasts
            while owed >= 50 {
                owed -= 50
                publishOne(pad)
            }
        }
    }

    private func publishOne(_ pad: String) {
        let number = published + 1
        let content: JSON = [
            "process": .integer(Int64(log.process)), "session": .integer(Int64(session)),
            "number": .integer(Int64(number)), "pad": .string(pad),
        ]
        let index = log.role
        log.write(Record(.published, kind: index, number: session, detail: number))
        do {
            try bus.broadcast(role.news, content, retain: role.retains && !member.placement.hasNodes)
            published = number
        } catch {
            log.write(Record(.refused, kind: index, number: session, detail: number))
        }
    }
}
