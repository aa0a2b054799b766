import ExportInterface
import StorageInterface
import Strata

extension Storage.Dump.Element {
    var lines: [Export.Line] { packages.map { Export.Line($0) } + notes.map { Export.Line($0) } }
}

/// Storage's batches, line by line: who takes lines slowly lets Storage read
/// slowly.
struct LineSequence: AsyncSequence, AsyncIteratorProtocol {
    private var batches: ReplyStream<Storage.Dump.Element>.Iterator
    private var lines: ArraySlice<Export.Line> = []

    init(_ batches: ReplyStream<Storage.Dump.Element>) { self.batches = batches.makeAsyncIterator() }

    func makeAsyncIterator() -> LineSequence { self }

    mutating func next() async throws -> Export.Line? {
        while lines.isEmpty {
            guard let batch = try await batches.next() else { return nil }
            lines = batch.lines[...]
        }
        return lines.removeFirst()
    }
}
