import Glibc
import StrataCore
import StrataLoop

@testable import StrataBus
@testable import StrataTesting

extension MemoryBus {
    /// Runs a test on such a bus, as `TestBus.run` runs it on a broker.
    ///
    /// If brokers are replaced after each round (`STRATA_TEST_HANDOVER`), the test runs on a
    /// broker. So each of these tests also passes over sockets, and through their hand-over.
    @discardableResult
    static func run<Result>(
        _ table: AppTable, isLaunched: Bool = false, _ test: (TestBus) throws -> Result
    ) throws -> Result {
        if TestBus.isHandedOverEachRound || TestBus.isSpread {
            return try TestBus.run(table, isLaunched: isLaunched, test)
        }
        return try TestBus(table, MemoryBus(table, isLaunched: isLaunched)).run(test)
    }

    /// Returns everything that the bus knows as a state's file, as a broker writes it when it is
    /// replaced.
    func writtenDown() throws -> [UInt8] {
        work()
        let files = try StateFile.write(broker.capture())
        defer { files.close() }
        precondition(files.queues < 0, "what waits is small in these tests")
        var bytes = [UInt8](repeating: 0, count: Int(lseek(files.state, 0, SEEK_END)))
        guard pread(files.state, &bytes, bytes.count, 0) == bytes.count else {
            throw SystemError(errno, "read a state")
        }
        return bytes
    }

    /// Continues as a bus with this state, with the connections that exist.
    func resume(_ bytes: [UInt8]) throws {
        let file = try MemoryFile.makeSealable("test")
        defer { Glibc.close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw SystemError(errno, "write a state") }
        try MemoryFile.seal(file)
        try broker.resume(try StateFile.read(file))
        work()
    }
}
