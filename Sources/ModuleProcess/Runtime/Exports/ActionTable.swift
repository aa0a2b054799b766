internal import Glibc
internal import StrataCore

/// The exported actions by the bytes of `to`, so that a call makes no string.
/// Open addressing; made anew where what is exported changes.
@ModuleActor
final class ActionTable {
    /// An action, and its `Interface/action`.
    struct Entry {
        let name: String
        let key: [UInt8]
        let start: Exports.Start
    }

    private let entries: [Entry?]
    private let exports: Exports

    init(_ exports: Exports) {
        self.exports = exports
        var capacity = 16
        while capacity < exports.actions.count * 2 { capacity *= 2 }
        var entries = [Entry?](repeating: nil, count: capacity)
        for (name, action) in exports.actions {
            let key = Array(name.utf8)
            var index = key.withUnsafeBytes { Self.hash($0) } & (capacity - 1)
            while entries[index] != nil { index = (index + 1) & (capacity - 1) }
            entries[index] = Entry(name: name, key: key, start: action.start)
        }
        self.entries = entries
    }

    /// The action that a call goes to, and the call's whole `to`.
    func find(_ to: UnsafeRawBufferPointer) -> (name: String, start: Exports.Start?) {
        var index = Self.hash(to) & (entries.count - 1)
        while let entry = entries[index] {
            if entry.key.count == to.count, to.isEmpty || memcmp(entry.key, to.baseAddress!, to.count) == 0 {
                return (entry.name, entry.start)
            }
            index = (index + 1) & (entries.count - 1)
        }
        // An instance's, or one of an interface that takes any.
        let name = to.text
        return (name, exports.action(for: name)?.start)
    }

    /// FNV-1a.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 32))
    }
}
