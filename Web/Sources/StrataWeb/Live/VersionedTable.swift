import StrataOperator

/// Values by key, each with the version of its last change, so that a reader gets only what it lacks.
///
/// Each value is kept as the JSON text in which all readers get it.
struct VersionedTable {
    private struct Entry {
        var text: [UInt8]
        var version: UInt64
    }

    /// The most keys whose removal is remembered.
    static let mostRemoved = 256

    private var entries: [String: Entry] = [:]
    private var removed: [(key: String, version: UInt64)] = []
    /// A reader that hasn't read this far has missed the removal of keys.
    private var oldestRemoval: UInt64 = 0

    /// Sets a value. An equal one changes nothing.
    /// - Parameter version: the version of this change; it is larger than all earlier ones.
    /// - Returns: whether it changed.
    mutating func set(_ key: String, _ text: [UInt8], _ version: UInt64) -> Bool {
        if entries[key]?.text == text { return false }
        entries[key] = Entry(text: text, version: version)
        removed.removeAll { $0.key == key }
        return true
    }

    /// Removes the keys that don't fit.
    /// - Returns: whether there were any.
    mutating func keep(_ version: UInt64, where fits: (String) -> Bool) -> Bool {
        let gone = entries.keys.filter { !fits($0) }.sorted()
        for key in gone {
            entries[key] = nil
            removed.append((key, version))
        }
        if removed.count > Self.mostRemoved {
            oldestRemoval = removed[removed.count - Self.mostRemoved - 1].version
            removed.removeFirst(removed.count - Self.mostRemoved)
        }
        return !gone.isEmpty
    }

    /// How far a reader has read.
    struct Reading {
        fileprivate var entries: UInt64 = 0
        /// Nil before the first reading, which needs no removals.
        fileprivate var removals: UInt64?
    }

    /// What a reader lacks.
    struct Changes {
        var texts: [[UInt8]] = []
        var removed: [String] = []
        /// Whether this replaces all that the reader has, because it has missed removals.
        var isAnew = false

        var isEmpty: Bool { texts.isEmpty && removed.isEmpty && !isAnew }
    }

    /// Returns what changed since a reading, the oldest change first.
    /// - Parameters:
    ///   - version: the version of the last change.
    ///   - room: the bytes of texts after which the rest is left for the next time.
    func changes(since reading: inout Reading, version: UInt64, room: Int) -> Changes {
        var changes = Changes()
        if let read = reading.removals, read < oldestRemoval {
            changes.isAnew = true
            reading = Reading()
        }
        if let read = reading.removals { changes.removed = removed.filter { $0.version > read }.map(\.key) }
        reading.removals = version
        var left = room
        let read = reading.entries
        for entry in entries.values.filter({ $0.version > read }).sorted(by: { $0.version < $1.version }) {
            guard left > 0 else { break }
            left -= entry.text.count + 1
            changes.texts.append(entry.text)
            reading.entries = entry.version
        }
        return changes
    }
}
