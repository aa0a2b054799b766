/// The code of an answer as one byte; 0 is a reply.
public enum AnswerCode {
    /// The codes with which the protocol lets an honest request of this app end. See `RunJudge`
    /// for when.
    public static let names = [
        "reply", "died", "deadline-exceeded", "cancelled", "unavailable", "overloaded", "unknown-instance",
        "unknown-interface", "unauthorized", "slow-consumer", "shutting-down", "Store.full", "replaced",
    ]
    public static let reply: UInt8 = 0
    /// Any other code, which must not occur.
    public static let unexpected: UInt8 = 255

    public static func number(_ name: String) -> UInt8 {
        names.firstIndex(of: name).map { UInt8($0) } ?? unexpected
    }

    public static func name(_ number: UInt8) -> String {
        Int(number) < names.count ? names[Int(number)] : "unexpected"
    }
}

/// An error's `ran` as one byte.
public enum Ran: UInt8, Sendable, CaseIterable {
    case no, maybe, yes

    public static func number(_ name: String) -> UInt8 {
        (allCases.first { "\($0)" == name } ?? .maybe).rawValue
    }
}
