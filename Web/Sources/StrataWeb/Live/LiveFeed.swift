import StrataOperator
import Synchronization

/// The state that all tabs read, and how many tabs there are. The bus's thread changes the state, and the
/// tasks of the server read it.
final class LiveFeed: Sendable {
    /// The most tabs at a time.
    static let mostReaders = 16

    private let state = Mutex(LiveState())
    private let readers = Mutex(0)

    func change(_ body: (inout LiveState) -> Void) { state.withLock { body(&$0) } }

    /// Returns what a tab lacks, as server-sent events.
    func events(_ reading: inout LiveState.Reading) -> [UInt8] {
        var copy = reading
        let text = state.withLock { $0.events(&copy) }
        reading = copy
        return text
    }

    /// A tab, which counts until its response is dropped, even if that was never sent.
    final class Reader: Sendable {
        private let feed: LiveFeed

        fileprivate init(_ feed: LiveFeed) { self.feed = feed }

        deinit { feed.readers.withLock { $0 -= 1 } }
    }

    /// Counts a tab; nil if there are too many.
    func join() -> Reader? {
        let isCounted = readers.withLock { count in
            guard count < Self.mostReaders else { return false }
            count += 1
            return true
        }
        return isCounted ? Reader(self) : nil
    }

    var hasReaders: Bool { readers.withLock { $0 > 0 } }
}
