import Testing

@testable import StrataBus

/// Which connection is closed when there are too many.
struct ConnectionsByUserTests {
    private func connections(_ added: (user: UInt32, number: UInt64)...) -> ConnectionsByUser {
        var connections = ConnectionsByUser()
        for (user, number) in added { connections.add(number, of: user) }
        return connections
    }

    @Test(.promise("13.8")) func theOldestConnectionOfTheUserWithTheMostGivesWay() {
        let connections = connections((7, 1), (8, 2), (8, 3), (7, 4), (8, 5))
        #expect(connections.count == 5)
        #expect(connections.surplus == .init(number: 2, user: 8, count: 3))
    }

    @Test(.promise("13.8")) func amongEqualUsersTheOneWithTheOldestConnectionGivesWay() {
        #expect(connections((8, 2), (7, 3), (9, 4)).surplus == .init(number: 2, user: 8, count: 1))
        #expect(connections((9, 1), (8, 2), (8, 3), (9, 4)).surplus == .init(number: 1, user: 9, count: 2))
    }

    @Test(.promise("13.8")) func removedConnectionsAreNoLongerCounted() {
        var connections = connections((7, 1), (7, 2), (8, 3))
        connections.remove(1, of: 7)
        // Removing what isn't there changes nothing.
        connections.remove(1, of: 7)
        connections.remove(2, of: 9)
        #expect(connections.count == 2)
        #expect(connections.surplus == .init(number: 2, user: 7, count: 1))
        connections.remove(2, of: 7)
        connections.remove(3, of: 8)
        #expect(connections.count == 0 && connections.surplus == nil)
    }

    /// However often one user reconnects, the other user's connection stays.
    @Test(.promise("13.9")) func oneUserNeverDisplacesAnother() {
        var connections = connections((8, 0))
        for number in UInt64(1)...1_000 {
            connections.add(number, of: 7)
            guard connections.count > 64, let surplus = connections.surplus else { continue }
            #expect(surplus.user == 7 && surplus.number == number - 63)
            connections.remove(surplus.number, of: surplus.user)
        }
        #expect(connections.count == 64)
    }
}
