/// A kind of message that is judged, and by what.
public enum MessageKind: CaseIterable, Sendable {
    case call, open, report, broadcast, event

    /// What can be against one, in the order in which the bus asks.
    public var checks: [Check] {
        switch self {
        case .call: Self.ofCall
        case .open: Self.ofOpen
        case .report: Self.ofReport
        case .broadcast: Self.ofBroadcast
        case .event: Self.ofEvent
        }
    }

    private static let ofCall: [Check] = [
        .existence, .sender, .trust, .level, .declaration, .setAside, .owner, .start, .waiting, .actions, .instance,
        .requests, .parent, .authorization, .room,
    ]
    private static let ofOpen: [Check] = [
        .sender, .trust, .existence, .level, .declaration, .setAside, .owner, .start, .waiting, .requests, .parent,
        .actions, .instance, .authorization, .room,
    ]
    private static let ofReport: [Check] = [
        .sender, .existence, .level, .declaration, .owner, .start, .waiting, .requests, .parent, .room,
    ]
    /// The level comes last, since it refuses nothing: it chooses who gets it.
    private static let ofBroadcast: [Check] = [.sender, .declaration, .room, .level]
    /// After the checks on any call of `bus`.
    private static let ofEvent: [Check] = [.sender, .declaration, .requests]
}
