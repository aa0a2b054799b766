import FaultJudge
import FaultRecord

/// A run whose records are made up, and the judge's findings about it.
struct MadeUpRun {
    private let placement: RolePlacement
    private var logs: [ProcessLog] = []
    private var clock: UInt64 = 1_000_000_000

    init(placement: RolePlacement = RolePlacement(nodes: 1)) { self.placement = placement }

    /// Adds a process on the first home of its role, and returns its number, from 1.
    /// - Parameters:
    ///   - replica: the number of the replica that it is; 0 for none.
    ///   - node: another one of its role's homes.
    mutating func process(_ role: String, replica: UInt8 = 0, on node: UInt8? = nil) -> UInt32 {
        clock += 1_000_000
        let number = UInt32(logs.count + 1)
        let node = node ?? Role.named(role).map { placement.homes(of: $0)[0] } ?? 0
        logs.append(
            ProcessLog(
                process: number, role: Role.index(of: role) ?? .max, pid: Int32(number) + 100, node: node,
                replica: replica, begun: clock, []))
        return number
    }

    /// Adds records to a process's log, 1 ms apart.
    mutating func wrote(_ process: UInt32, _ records: Record...) {
        for var record in records {
            clock += 1_000_000
            record.time = clock
            if record.event == .drained { record.detail = clock }
            logs[Int(process) - 1].records.append(record)
        }
    }

    mutating func pass(milliseconds: UInt64) { clock += milliseconds * 1_000_000 }

    func judged(living: Set<UInt32> = []) -> [Violation] {
        var judge = RunJudge(logs, living: living, placement: placement)
        return judge.judge()
    }

    func found(living: Set<UInt32> = []) -> [Violation.Kind] { judged(living: living).map(\.kind) }
}

extension Record {
    static func sent(
        _ process: UInt32, _ index: UInt64, _ kind: RequestKind = .atOnce, to callee: String? = nil, key: UInt8 = 0
    ) -> Record {
        let callee = callee.flatMap { Role.index(of: $0) }.map { UInt32($0) + 1 } ?? 0
        return Record(
            .sent, kind: kind.rawValue, code: key, extra: callee,
            number: RequestNumber(process: process, index: index).value)
    }

    static func answered(
        _ process: UInt32, _ index: UInt64, _ code: String = "reply", _ ran: Ran = .yes, extra: UInt32 = 1
    ) -> Record {
        Record(
            .answered, code: AnswerCode.number(code), ran: ran.rawValue, extra: extra,
            number: RequestNumber(process: process, index: index).value)
    }

    static func of(_ event: Event, _ process: UInt32, _ index: UInt64) -> Record {
        Record(event, number: RequestNumber(process: process, index: index).value)
    }

    static func published(_ role: String, session: UInt64 = 1, _ number: UInt64) -> Record {
        Record(.published, kind: Role.index(of: role) ?? 0, number: session, detail: number)
    }

    static func noticed(
        _ role: String, of process: UInt32, session: UInt64 = 1, _ number: UInt64, _ traits: NoticeTraits = [],
        missed: UInt32 = 0
    ) -> Record {
        Record(
            .noticed, kind: Role.index(of: role) ?? 0, ran: traits.rawValue, extra: missed,
            number: UInt64(process) << 32 | session, detail: number)
    }

    static func fault(
        _ kind: FaultKind, on node: UInt8 = 0, pid: UInt32 = 0, milliseconds: UInt64 = 0, detail: UInt64 = 0
    ) -> Record {
        Record(.fault, kind: kind.rawValue, code: node, extra: pid, number: milliseconds, detail: detail)
    }
}
