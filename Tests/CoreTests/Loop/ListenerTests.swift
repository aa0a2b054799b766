import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// How many connections are accepted in a round of the loop.
@Suite(.timeLimit(.hang)) struct ListenerTests {
    /// Accepts three waiting connections, and returns how many each round accepted.
    private func rounds(onConnection: @escaping (Listener) -> Void) throws -> [Int] {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let loop = try Loop()
        var (taken, rounds): (Int, [Int]) = (0, [])
        var (listener, hook): (Listener?, RoundHook?)
        listener = try Listener(loop, path: "\(folder.path)/socket") { socket in
            taken += 1
            socket.close()
            listener.map(onConnection)
        }
        let others = try (0..<3).map { _ in try Socket.connect(loop, path: "\(folder.path)/socket") }
        hook = RoundHook(loop) {
            rounds.append(taken - rounds.reduce(0, +))
            guard taken == 3 else { return }
            listener?.close()
            hook?.close()
        }
        loop.run()
        for other in others { other.close() }
        loop.run()
        return Array(rounds.dropFirst())
    }

    /// If a handle can't be made, its maker closes the descriptor that it took over.
    @Test func whatCanNotBeWatchedIsClosed() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let loop = try Loop()
        let takers: [(Int32) throws -> Void] = [
            { _ = try Listener(loop, path: "none", descriptor: $0) { _ in } },
            { _ = try Socket(loop, descriptor: $0) },
            { _ = try OutputReader(loop, descriptor: $0, onBytes: { _ in }, onEnd: {}) },
        ]
        for take in takers {
            // The kernel can't watch a regular file.
            let file = open("\(folder.path)/file", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            var (taken, now) = (stat(), stat())
            fstat(file, &taken)
            #expect(throws: SystemError.self) { try take(file) }
            // Another test may have reused the descriptor's number for another file by now.
            #expect(fstat(file, &now) != 0 || now.st_ino != taken.st_ino || now.st_dev != taken.st_dev)
        }
    }

    @Test func allThatWaitAreTakenInOne() throws {
        #expect(try rounds(onConnection: { _ in }) == [3])
    }

    @Test(.promise("13.37")) func aTurnThatIsEndedLeavesTheRestToTheNext() throws {
        #expect(try rounds(onConnection: { $0.endTurn() }) == [1, 1, 1])
    }
}
