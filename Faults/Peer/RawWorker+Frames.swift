internal import FaultRecord
internal import Glibc
internal import Strata
internal import StrataTesting

/// Handles frames that arrive: calls, notices and answers.
extension RawWorker {
    func take(_ frame: ReceivedFrame, _ peer: RawPeer) throws {
        switch frame.kind {
        case "call": try handle(frame, peer)
        case "notice" where frame["id"] != nil: try peer.reply(to: frame)
        case "notice": noticed(frame)
        case "reply", "error": try answered(frame, peer)
        default: break
        }
    }

    private func handle(_ frame: ReceivedFrame, _ peer: RawPeer) throws {
        switch frame.to {
        case "module/setUp":
            // After the loss of a connection during the start, the bus asks again.
            if !hasSetUp { log.write(Record(.setUp)) }
            hasSetUp = true
        case "module/didStart":
            hasStarted = true
            log.write(Record(.ready))
        case "module/tearDown":
            log.write(Record(.tearDown))
            ending = frame
            ping = nil
            return
        case _ where frame.to.hasPrefix("module/"): break
        default:
            let number = Digits.first(in: frame.body)
            log.write(Record(.started, number: number))
            log.write(Record(.ended, number: number))
            try peer.reply(to: frame, ["n": .integer(Int64(number))])
            return
        }
        try peer.reply(to: frame)
    }

    private func noticed(_ frame: ReceivedFrame) {
        let numbers = Digits.first(3, in: frame.body)
        guard numbers.count == 3, let index = Role.newsIndex(ofNotice: frame.name) else { return }
        let role = role
        var traits: NoticeTraits = role.keepsLatest.contains { "\($0).news" == frame.name } ? .latest : []
        if frame["retained"] == true { traits.insert(.retained) }
        log.write(
            Record(
                .noticed, kind: index, ran: traits.rawValue,
                extra: UInt32(clamping: frame["missed"]?.integer ?? 0), number: numbers[0] << 32 | numbers[1],
                detail: numbers[2]))
    }

    private func answered(_ frame: ReceivedFrame, _ peer: RawPeer) throws {
        guard frame["id"] != nil else {
            if frame.code == "shutting-down" { exit(0) }
            return
        }
        guard !frame.isPartial else { return }
        if let ping, ping.id == frame.id { return try flushed(ping.sentAt, peer) }
        guard frame.id < Self.pings else { return }
        let number = RequestNumber(process: log.process, index: frame.id).value
        guard open.remove(frame.id) != nil else {
            log.write(Record(.answeredAgain, number: number))
            return
        }
        guard frame.kind == "error" else {
            let isOwn = Digits.first(in: frame.body) == number
            log.write(
                isOwn
                    ? Record(.answered, ran: Ran.yes.rawValue, extra: 1, number: number)
                    : Record(.wrongReply, number: number))
            return
        }
        let code = AnswerCode.number(frame.code)
        if code == AnswerCode.unexpected { print("unexpected: \(frame)") }
        log.write(Record(.answered, code: code, ran: Ran.number(frame.ran), number: number))
    }

    private func flushed(_ sentAt: UInt64, _ peer: RawPeer) throws {
        ping = nil
        if let ending {
            log.write(Record(.drained, number: UInt64(open.count), detail: sentAt))
            try peer.reply(to: ending)
            // The loop still serves whatever comes until the connection ends.
            return
        }
        let phase = board.phase
        log.write(phase == .stop ? Record(.flushed) : Record(.drained, number: UInt64(open.count), detail: sentAt))
        place.done = phase.rawValue
    }
}
