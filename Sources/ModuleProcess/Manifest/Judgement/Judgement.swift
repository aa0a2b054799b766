public import StrataCore

/// The prediction whether the bus would let one message of one module through, check by check.
public struct Judgement: Sendable, Equatable {
    /// One of the bus's checks, in the order in which the bus makes them.
    public struct Check: Sendable, Equatable {
        public enum Result: String, Sendable {
            case passed, refused
            /// The check is not made for such a message.
            case free
            /// The result is known only while the app runs.
            case depends
        }

        /// The name of the check, such as `existence` or `level`.
        public var name: String
        public var result: Result
        /// What was found, and by which rule.
        public var reason: String
        /// The line of the manifest that the result is based on; nil if there is none.
        public var place: ManifestError?
    }

    /// A module that could get a notification.
    public struct Recipient: Sendable, Equatable {
        public var module: String
        public var level: String
        /// Whether it gets the notification.
        public var gets: Bool
        public var reason: String
        public var place: ManifestError?
    }

    /// The question: `Notes calls Storage/load`.
    public var subject: String
    public internal(set) var checks: [Check] = []
    /// The observers of a notification; for a report, its target.
    public internal(set) var recipients: [Recipient] = []
    /// The changes that would help. One entry of each list is needed.
    public internal(set) var changes: [[String]] = []
    /// The error that the bus would answer with; nil if it lets the message through.
    public internal(set) var code: ErrorCode?

    public var isAllowed: Bool { code == nil }

    init(_ subject: String) { self.subject = subject }

    /// Whether a check depends on what is known only while the app runs.
    public var depends: Bool { isAllowed && checks.contains { $0.result == .depends } }

    /// The finding of a check.
    struct Finding {
        var reason: String
        var place: ManifestError?
        /// For a refusal, the changes that would each resolve it.
        var changes: [String] = []

        init(_ reason: String, _ place: ManifestError? = nil, changes: [String] = []) {
            self.reason = reason
            self.place = place
            self.changes = changes
        }
    }

    /// Makes each check that can be predicted. The bus answers with the first refusal.
    /// - Parameter explain: Returns the finding of a check; nil if there is nothing to judge.
    mutating func ask(_ facts: ManifestFacts, _ explain: (StrataCore.Check, Verdict) -> Finding?) {
        for check in facts.kind.checks where check.isForeseeable {
            let verdict = facts.verdict(check)
            guard let finding = explain(check, verdict) else { continue }
            add(check, verdict, finding)
        }
    }

    /// Adds an adapter that a call passes before all checks.
    mutating func add(adapter reason: String, _ place: ManifestError?) {
        checks.append(Check(name: "adapter", result: .passed, reason: reason, place: place))
    }

    mutating func add(_ check: StrataCore.Check, _ verdict: Verdict, _ finding: Finding) {
        let result: Check.Result
        var reason = finding.reason
        switch verdict {
        case .passed: result = .passed
        case .free: result = .free
        case .depends: result = .depends
        case .refused(let refusal):
            result = .refused
            reason = "\(refusal.code): \(reason)"
            code = code ?? refusal.code
            if !finding.changes.isEmpty { changes.append(finding.changes) }
        }
        checks.append(Check(name: check.name, result: result, reason: reason, place: finding.place))
    }
}
