/// What the link that accepts sessions knows about the process that proposes them, so that a late
/// or doubled hello doesn't end what came after it.
struct KnownLink {
    private(set) var link: UInt64?
    private var lastSession: UInt64 = 0
    /// Processes that another one has replaced, the newest last.
    private var former: [UInt64] = []

    static let mostFormer = 8

    enum Judgement: Equatable {
        /// It proposes a session that isn't known yet.
        case new(isNewLink: Bool)
        /// It proposes the last known session.
        case known
        /// It proposes a session before the last one, which is over.
        case over
        /// It comes from a process that was replaced.
        case former
    }

    func judge(_ greeting: ControlMessage.Greeting) -> Judgement {
        if former.contains(greeting.link) { return .former }
        guard greeting.link == link else { return .new(isNewLink: true) }
        if greeting.session == lastSession { return .known }
        return greeting.session > lastSession ? .new(isNewLink: false) : .over
    }

    /// Notes a session that is accepted.
    mutating func accept(_ greeting: ControlMessage.Greeting) {
        if let link, link != greeting.link {
            former.append(link)
            if former.count > Self.mostFormer { former.removeFirst() }
        }
        link = greeting.link
        lastSession = greeting.session
    }
}
