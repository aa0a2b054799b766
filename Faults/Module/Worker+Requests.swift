internal import FaultRecord
internal import Strata

/// Logs the module's own requests, before they are sent and when they are answered.
extension Worker {
    /// - Parameters:
    ///   - target: the role that handles it; nil for the broker itself.
    ///   - key: the number of its key; 0 for none.
    func made(
        _ kind: RequestKind, of target: Role?, for parent: UInt64, key: UInt8 = 0,
        _ work: (UInt64) async throws -> Outcome
    ) async {
        made += 1
        let number = RequestNumber(process: log.process, index: made).value
        let callee = target.flatMap { Role.index(of: $0.name) }.map { UInt32($0) + 1 } ?? 0
        log.write(Record(.sent, kind: kind.rawValue, code: key, extra: callee, number: number, detail: parent))
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
