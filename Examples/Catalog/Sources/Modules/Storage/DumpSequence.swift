import PackageDatabase
import StorageInterface
import Strata

/// A snapshot's batches, each read when it is asked for.
struct DumpSequence: AsyncSequence, AsyncIteratorProtocol {
    private static let batch = 100

    var snapshot: PackageSnapshot

    func makeAsyncIterator() -> DumpSequence { self }

    mutating func next() async throws -> Storage.Dump.Element? {
        let before = snapshot
        let (batch, after) = try await blocking {
            var snapshot = before
            let batch = try snapshot.next(Self.batch)
            return (batch, snapshot)
        }
        snapshot = after
        return batch
    }
}
