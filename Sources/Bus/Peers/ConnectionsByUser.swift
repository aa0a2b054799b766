/// Connections in the order in which they came, counted by user: it says which one
/// goes where there are too many, so that no user can take the places of another.
///
/// Knows no peers: connections and users are numbers.
struct ConnectionsByUser {
    /// How many there are, of all users.
    private(set) var count = 0
    /// Each user's connections, oldest first.
    private var byUser: [UInt32: [UInt64]] = [:]

    /// The one that goes first.
    struct Surplus: Equatable {
        let number: UInt64
        let user: UInt32
        /// How many that user has.
        let count: Int
    }

    mutating func add(_ number: UInt64, of user: UInt32) {
        byUser[user, default: []].append(number)
        count += 1
    }

    mutating func remove(_ number: UInt64, of user: UInt32) {
        guard let index = byUser[user]?.firstIndex(of: number) else { return }
        byUser[user]?.remove(at: index)
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        count -= 1
    }

    /// The oldest connection of the user that has the most; of users that have as many,
    /// of the one whose oldest is the oldest. Its cost grows with the users alone.
    var surplus: Surplus? {
        let most = byUser.max { one, other in
            (one.value.count, other.value[0]) < (other.value.count, one.value[0])
        }
        return most.map { Surplus(number: $0.value[0], user: $0.key, count: $0.value.count) }
    }
}
