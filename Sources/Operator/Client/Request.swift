public import StrataCore

/// What is sent to a bus, and what becomes of its partial replies.
public struct Request {
    /// A call, an open, a broadcast or a report.
    public var kind: Header.Kind
    /// `Interface/action`; the URL of an open; empty for a notification.
    public var to: String
    /// JSON; empty for null.
    public var body: [UInt8]
    /// Milliseconds; nil is the bus's default, 0 none.
    public var deadline: UInt64?
    /// Partial replies that may come before the first are taken; nil is the bus's
    /// default. Credit for them goes back when a fourth of it is used.
    public var credit: UInt64?
    /// Further members of the header.
    public var members: [(StaticString, String)] = []
    /// JSON; empty for none.
    public var meta: [UInt8] = []
    /// Has no deadline on the bus: `bus/monitor`.
    public var isEndless = false
    /// Gets each partial reply.
    public var onPartial: ([UInt8]) -> Void = { _ in }
    private var given: UInt64?

    /// A call with params.
    /// - Parameters:
    ///   - to: `Interface/action`.
    ///   - params: nil for none.
    ///   - deadline: milliseconds; nil is the bus's default, 0 none.
    public init(to: String, _ params: JSON?, deadline: UInt64? = nil) {
        self.init(to: to, body: params?.encoded() ?? [], deadline: deadline)
    }

    /// A call, where nothing else is said.
    /// - Parameters:
    ///   - kind: a call, an open, a broadcast or a report.
    ///   - to: `Interface/action`; the URL of an open; empty for a notification.
    ///   - body: JSON; empty for null.
    ///   - deadline: milliseconds; nil is the bus's default, 0 none.
    public init(_ kind: Header.Kind = .call, to: String = "", body: [UInt8] = [], deadline: UInt64? = nil) {
        (self.kind, self.to, self.body, self.deadline) = (kind, to, body, deadline)
    }

    /// The bus's deadline where none is said, in milliseconds.
    public static let standardDeadline: UInt64 = 30_000

    /// How long ``BusClient/send(_:)`` waits for the next reply, in milliseconds: as was
    /// said, or the request's deadline and some more. Nil where it may take forever.
    public var patience: UInt64? {
        get {
            if let given { return given }
            if isEndless || deadline == 0 { return nil }
            return (deadline ?? Self.standardDeadline) + 5_000
        }
        set { given = newValue }
    }
}
