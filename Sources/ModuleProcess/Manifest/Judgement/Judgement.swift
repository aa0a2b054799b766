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

    /// What is found by a check.
    struct Finding {
        var reason: String
        var place: ManifestError?
        /// Of a refusal: each would mend it by itself.
        var changes: [String] = []

        init(_ reason: String, _ place: ManifestError? = nil, changes: [String] = []) {
            self.reason = reason
            self.place = place
            self.changes = changes
        }
    }

    /// Has the judge asked each check that can be foreseen; the first one that refuses is what
    /// the bus answers.
    /// - Parameter explain: nil where nothing can be said, since there is nothing to judge.
    mutating func ask(_ facts: ManifestFacts, _ explain: (StrataCore.Check, Verdict) -> Finding?) {
        for check in facts.kind.checks where check.isForeseeable {
            let verdict = facts.verdict(check)
            guard let finding = explain(check, verdict) else { continue }
            add(check, verdict, finding)
        }
    }

    /// One that a call passes on its way, before all checks.
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
