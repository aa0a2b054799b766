internal import Glibc
internal import StrataCore

/// The exported actions by the bytes of `to`, so that finding a call's action creates no string. A
/// hash table with open addressing, rebuilt whenever the exports change.
@ModuleActor
final class ActionTable {
    /// An exported action.
    final class Entry {
        /// `Interface/action`.
        let name: String
        let key: [UInt8]
        let start: Exports.Start
        /// The series that measures the action; nil until its first measured call.
        @exclusivity(unchecked) private(set) var series: Series?

        init(name: String, start: @escaping Exports.Start) {
            self.name = name
            key = Array(name.utf8)
            self.start = start
        }

        func isMeasured(in series: Series?) { self.series = series }
    }

    private let entries: [Entry?]

    init(_ exports: Exports) {
        var capacity = 16
        while capacity < exports.actions.count * 2 { capacity *= 2 }
        var entries = [Entry?](repeating: nil, count: capacity)
        for (name, action) in exports.actions {
            let entry = Entry(name: name, start: action.start)
            var index = entry.key.withUnsafeBytes { Self.hash($0) } & (capacity - 1)
            while entries[index] != nil { index = (index + 1) & (capacity - 1) }
            entries[index] = entry
        }
        self.entries = entries
    }

    /// Returns the action whose whole name matches; nil otherwise. It doesn't find an instance's
    /// actions or those of an interface that takes any action.
    func find(_ to: UnsafeRawBufferPointer) -> Entry? {
        var index = Self.hash(to) & (entries.count - 1)
        while let entry = entries[index] {
            if entry.key.count == to.count, to.isEmpty || memcmp(entry.key, to.baseAddress!, to.count) == 0 {
                return entry
            }
            index = (index + 1) & (entries.count - 1)
        }
        return nil
    }

    /// The FNV-1a hash.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 32))
    }
}
