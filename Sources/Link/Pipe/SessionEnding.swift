/// Why a session ended; its description is for people.
public enum SessionEnding: Equatable, Sendable, CustomStringConvertible {
    /// Nothing was heard for so many nanoseconds.
    case silence(UInt64)
    /// The other link is heard, but has received nothing for so many nanoseconds.
    case unheard(UInt64)
    /// The other node's link is another process now.
    case newLink
    /// The other link proposed another session.
    case newSession
    /// The other link said so.
    case bye(ByeCode)
    /// The own broker closed the connection, for the reason given.
    case brokerClosed(String)
    /// This link ends.
    case shutDown

    public var description: String {
        switch self {
        case .silence(let time): "nothing was heard of it for \(Self.seconds(time))"
        case .unheard(let time): "it is heard, but has received nothing for \(Self.seconds(time))"
        case .newLink: "its link was started again"
        case .newSession: "its link began a new session"
        case .bye(let code): "its link ended the session: \(code.rawValue)"
        case .brokerClosed(let why): "this node's broker closed its connection: \(why)"
        case .shutDown: "this node's link ends"
        }
    }

    /// What the other link is told; nil if it knows.
    var code: ByeCode? {
        switch self {
        case .silence, .unheard: .lost
        case .newLink: nil
        case .newSession: .replaced
        case .bye: nil
        case .brokerClosed: .brokerClosed
        case .shutDown: .shuttingDown
        }
    }

    private static func seconds(_ nanoseconds: UInt64) -> String {
        let tenths = nanoseconds / (100 * PipeTimes.millisecond)
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
