internal import FaultRecord
internal import Strata

/// What became of a request that was answered without an error.
enum Outcome {
    /// A reply; of a report, how many observers it had.
    case reply(UInt32)
    /// A reply that isn't the one to this request, or isn't whole.
    case wrong
    /// The caller left before the end.
    case gaveUp

    static func of(_ isRight: Bool) -> Outcome { isRight ? .reply(1) : .wrong }
    static func of(_ answer: UInt64, _ number: UInt64) -> Outcome { of(answer == number) }
}

/// Writing down the own requests, before they are sent and when they are answered.
extension Worker {
    func made(_ kind: RequestKind, for parent: UInt64, _ work: (UInt64) async throws -> Outcome) async {
        made += 1
        let number = RequestNumber(process: log.process, index: made).value
        log.write(Record(.sent, kind: kind.rawValue, number: number, detail: parent))
        open += 1
        do {
            switch try await work(number) {
            case .reply(let extra): log.write(Record(.answered, ran: Ran.yes.rawValue, extra: extra, number: number))
            case .wrong: log.write(Record(.wrongReply, number: number))
            case .gaveUp: log.write(Record(.gaveUp, number: number))
            }
        } catch let error as BusError {
            let code = AnswerCode.number(error.code.rawValue)
            if code == AnswerCode.unexpected { print("unexpected: \(kind) \(number): \(error)") }
            log.write(
                Record(.answered, code: code, ran: Ran.number(error.ran.rawValue), number: number))
        } catch {
            print("unexpected: \(kind) \(number): \(error)")
            log.write(Record(.wrongReply, number: number))
        }
        open -= 1
    }
}
