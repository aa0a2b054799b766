/// The sessions: who is signed in where, and until when. It knows no clock: the
/// time is given, in milliseconds.
struct SessionTable {
    /// How many there may be at once.
    static let most = 1_000

    enum State: Equatable {
        /// There is no such session, or it is over.
        case none
        /// It waits for somebody to sign in.
        case open
        case user(String)
    }

    private struct Entry {
        var user: String?
        var end: UInt64
    }

    /// How long one lasts from its beginning, and anew from the sign-in.
    var lifetime: UInt64
    private var entries: [String: Entry] = [:]

    init(lifetime: UInt64) { self.lifetime = lifetime }

    var isFull: Bool { entries.count >= Self.most }
    /// When the next one is over; nil where there is none.
    var nextEnd: UInt64? { entries.values.map(\.end).min() }

    func state(of token: String, at now: UInt64) -> State {
        guard let entry = entries[token], now < entry.end else { return .none }
        return entry.user.map(State.user) ?? .open
    }

    /// Milliseconds that a session has left.
    func rest(of token: String, at now: UInt64) -> UInt64 {
        guard let entry = entries[token], now < entry.end else { return 0 }
        return entry.end - now
    }

    /// Enters a session, or the sign-in to one.
    mutating func set(_ token: String, user: String?, at now: UInt64) {
        entries[token] = Entry(user: user, end: now + lifetime)
    }

    /// Takes the sessions out that are over.
    mutating func takeExpired(at now: UInt64) -> [(token: String, user: String?)] {
        take { _, entry in entry.end <= now }
    }

    /// Takes those out whose token or person is meant; nobody's has no person.
    mutating func take(where isMeant: (_ token: String, _ user: String?) -> Bool) -> [(token: String, user: String?)] {
        take { token, entry in isMeant(token, entry.user) }
    }

    private mutating func take(_ isMeant: (String, Entry) -> Bool) -> [(token: String, user: String?)] {
        let taken = entries.filter { isMeant($0.key, $0.value) }
        for token in taken.keys { entries[token] = nil }
        return taken.map { ($0.key, $0.value.user) }
    }
}
