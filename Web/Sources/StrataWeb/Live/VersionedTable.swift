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
    static let mostRemoved = 1_024

    private var entries: [String: Entry] = [:]
    private var removed: [(key: String, version: UInt64)] = []
    /// A reader that hasn't read this far has missed the removal of keys.
    private(set) var oldestRemoval: UInt64 = 0

    var keys: some Collection<String> { entries.keys }

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

    /// What changed after a version.
    struct Changes {
        var texts: [[UInt8]] = []
        var removed: [String] = []
        /// How far the reader has read with these changes.
        var version: UInt64
    }

    /// Returns what changed after a version, the oldest change first.
    /// - Parameter room: the bytes of texts after which the rest is left for the next time.
    func changes(after version: UInt64, room: Int) -> Changes {
        let changed = entries.values.filter { $0.version > version }.sorted { $0.version < $1.version }
        let gone = removed.filter { $0.version > version }
        var changes = Changes(version: version)
        var left = room
        var isWhole = true
        for entry in changed {
            guard left > 0 else {
                isWhole = false
                break
            }
            left -= entry.text.count + 1
            changes.texts.append(entry.text)
            changes.version = entry.version
        }
        changes.removed = gone.filter { isWhole || $0.version <= changes.version }.map(\.key)
        if isWhole { changes.version = max(changes.version, gone.last?.version ?? 0) }
        return changes
    }
}
