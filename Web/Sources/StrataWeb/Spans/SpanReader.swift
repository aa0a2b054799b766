import Foundation
import StrataOperator

/// Reads the lines that modules append to a file of spans, in batches. The file is the queue: what couldn't
/// be pushed is read again.
struct SpanReader {
    /// The most bytes of a batch.
    static let most = 1 << 20

    let path: String
    /// How far the file has been pushed.
    private(set) var position: UInt64

    /// Begins at the file's end: earlier spans are not pushed.
    init(_ path: String) {
        self.path = path
        position = Self.size(path) ?? 0
    }

    private static func size(_ path: String) -> UInt64? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.uint64Value
    }

    /// What was read.
    struct Batch {
        /// OTLP's `ExportTraceServiceRequest` as JSON; empty if no line was whole and valid.
        var request: [UInt8] = []
        var spans = 0
        /// The lines that are no spans.
        var malformed = 0
        /// Where the next batch begins.
        fileprivate var end: UInt64
    }

    /// Reads the next whole lines; nil if there are none.
    mutating func next() throws -> Batch? {
        guard let size = Self.size(path) else { return nil }
        // The file was rotated: it was copied away and emptied.
        if size < position { position = 0 }
        guard size > position, let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        try file.seek(toOffset: position)
        guard let data = try file.read(upToCount: Self.most), let end = data.lastIndex(of: 0x0A) else {
            // A line that is longer than a batch can't be pushed.
            if size - position >= UInt64(Self.most) { return Batch(malformed: 1, end: position + UInt64(Self.most)) }
            return nil
        }
        var batch = Batch(end: position + UInt64(end - data.startIndex) + 1)
        var resources: [JSON] = []
        for line in data[..<end].split(separator: 0x0A) {
            guard let spans = (try? JSON(parsing: Array(line)))?["resourceSpans"]?.array else {
                batch.malformed += 1
                continue
            }
            resources += spans
        }
        batch.spans = resources.count
        if !resources.isEmpty { batch.request = JSON.object([.init("resourceSpans", .array(resources))]).encoded() }
        return batch
    }

    /// Goes on behind a batch that was pushed, or that can't be.
    mutating func advance(past batch: Batch) { position = batch.end }
}
