/// What a check found: a rule of the protocol that the client broke.
package struct Finding: Error {
    /// What was expected, and what came.
    package var message: String
    /// The section of the rule, if it isn't the check's own.
    package var section: Section?
    /// Whether it is no finding: SIGINT or SIGTERM ends the run.
    package private(set) var isInterruption = false

    package init(_ message: String, in section: Section? = nil) {
        self.message = message
        self.section = section
    }

    package static var interruption: Finding {
        var finding = Finding("interrupted")
        finding.isInterruption = true
        return finding
    }
}

/// Where a rule stands: a section of docs/protocol.md, or docs/session.md.
package enum Section: String, CaseIterable {
    case frame = "2"
    case header = "3"
    case kinds = "4"
    case session = "5"
    case calls = "6"
    case notifications = "7"
    case lifeCycle = "11"
    case errors = "12"
    /// The recommendations of docs/session.md.
    case client

    package var title: String {
        switch self {
        case .frame: "section 2, frames"
        case .header: "section 3, headers"
        case .kinds: "section 4, kinds"
        case .session: "section 5, the session"
        case .calls: "section 6, calls"
        case .notifications: "section 7, notifications"
        case .lifeCycle: "section 11, life cycle and events"
        case .errors: "section 12, errors"
        case .client: "docs/session.md, recommended client behaviour"
        }
    }
}
