public import StrataCore

/// Whether the bus would let one message of one module through, check by check.
public struct Judgement: Sendable, Equatable {
    /// One of the bus's checks, in the order in which it makes them.
    public struct Check: Sendable, Equatable {
        public enum Result: String, Sendable {
            case passed, refused
            /// The check is not made for such a message.
            case free
            /// Only known while the app runs.
            case depends
        }

        /// Such as `existence` or `level`.
        public var name: String
        public var result: Result
        /// What was found, and by which rule.
        public var reason: String
        /// The line of the manifest that says so, where one does.
        public var place: ManifestError?
    }

    /// Somebody who could get a notification.
    public struct Recipient: Sendable, Equatable {
        public var module: String
        public var level: String
        /// Whether it gets it.
        public var gets: Bool
        public var reason: String
        public var place: ManifestError?
    }

    /// What was asked: `Notes calls Storage/load`.
    public var subject: String
    public internal(set) var checks: [Check] = []
    /// Of a notification: those that observe it, and for a report its target.
    public internal(set) var recipients: [Recipient] = []
    /// What could be done about it: all of the lists are needed, and of each any one entry.
    public internal(set) var changes: [[String]] = []
    /// The error that the bus would answer; nil where it lets it through.
    public internal(set) var code: ErrorCode?

    public var isAllowed: Bool { code == nil }

    init(_ subject: String) { self.subject = subject }

    /// Whether a check depends on what is only known while the app runs.
    public var depends: Bool { isAllowed && checks.contains { $0.result == .depends } }

    mutating func add(_ name: String, _ result: Check.Result, _ reason: String, _ place: ManifestError? = nil) {
        checks.append(Check(name: name, result: result, reason: reason, place: place))
    }

    /// A check that fails; the first one is what the bus answers.
    /// - Parameter changes: each would mend it by itself.
    mutating func refuse(
        _ name: String, _ code: ErrorCode, _ reason: String, _ place: ManifestError? = nil, changes: [String] = []
    ) {
        add(name, .refused, "\(code): \(reason)", place)
        self.code = self.code ?? code
        if !changes.isEmpty { self.changes.append(changes) }
    }
}
