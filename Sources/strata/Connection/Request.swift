import StrataCore

/// What is sent to a bus, and what becomes of its partial replies.
struct Request {
    var kind = Header.Kind.call
    /// `Interface/action`; the URL of an open; empty for a notification.
    var to = ""
    /// JSON; empty for null.
    var body: [UInt8] = []
    /// Milliseconds; nil is the bus's default, 0 none.
    var deadline: UInt64?
    /// Partial replies that may come before the first are taken.
    var credit: UInt64?
    /// Further members of the header.
    var members: [(StaticString, String)] = []
    /// JSON; empty for none.
    var meta: [UInt8] = []
    /// Has no deadline on the bus: `bus/monitor`.
    var isEndless = false
    /// After so many milliseconds it is cancelled; nil for never.
    var lasting: UInt64?
    /// What is being waited for, shown on a terminal where it takes long:
    /// `starting Storage`.
    var activity: String?
    var onPartial: ([UInt8]) -> Void = { _ in }

    init(to: String, body: [UInt8] = []) {
        self.to = to
        self.body = body
    }

    init(_ kind: Header.Kind, to: String = "") {
        self.kind = kind
        self.to = to
    }

    /// The bus's, where none is said, in milliseconds.
    static let standardDeadline: UInt64 = 30_000

    /// How long the bus may take for the next reply, in milliseconds: as was said,
    /// or its own deadline and some more. Nil where it may take forever.
    var patience: UInt64? {
        get {
            if let given { return given }
            if isEndless || deadline == 0 { return nil }
            return (deadline ?? Self.standardDeadline) + 5_000
        }
        set { given = newValue }
    }
    private var given: UInt64?
}
