import StrataOperator
import Synchronization

/// The state that all tabs read, and the count of those that do. The bus's thread changes it, and the
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

    /// Counts a tab.
    /// - Returns: false if there are too many.
    func begin() -> Bool {
        readers.withLock { count in
            guard count < Self.mostReaders else { return false }
            count += 1
            return true
        }
    }

    func end() { readers.withLock { $0 -= 1 } }

    var hasReaders: Bool { readers.withLock { $0 > 0 } }
}
