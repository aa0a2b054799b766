import StrataCore

/// What an observation is of: a notification's name, or a pattern of names.
struct ObservedName: Hashable, Comparable {
    var text: [UInt8]
    var isPattern = false

    /// Names come before patterns.
    static func < (left: Self, right: Self) -> Bool {
        left.isPattern == right.isPattern ? left.text.lexicographicallyPrecedes(right.text) : right.isPattern
    }

    /// Whether it is this name, or a pattern that matches it.
    func matches(_ name: UnsafeRawBufferPointer) -> Bool {
        text.withUnsafeBytes { text in
            isPattern ? NamePattern.matches(text, name) : text.count == name.count && text.elementsEqual(name)
        }
    }

    /// Whether a module may observe it.
    var isUsable: Bool {
        (1...256).contains(text.count)
            && (!isPattern || text.withUnsafeBytes { NamePattern.problem($0) == nil })
    }
}

/// Values by what is observed.
struct NameTable<Value: AnyObject>: ~Copyable {
    private var names = ByteTable<Value>()
    private var patterns = ByteTable<Value>()
    private let trie = PatternTrie<Value>()

    var count: Int { names.count + patterns.count }
    var hasPatterns: Bool { patterns.count > 0 }

    /// Returns the value of a name; nil if there is none.
    @inline(__always)
    func find(_ name: UnsafeRawBufferPointer) -> Value? { names.find(name) }

    /// Returns the value of exactly this name or pattern; nil if there is none.
    func find(_ observed: ObservedName) -> Value? {
        observed.text.withUnsafeBytes { observed.isPattern ? patterns.find($0) : names.find($0) }
    }

    mutating func set(_ observed: ObservedName, _ value: Value) {
        observed.text.withUnsafeBytes { text in
            guard observed.isPattern else { return names.set(text, value) }
            patterns.set(text, value)
            trie.set(text, value)
        }
    }

    mutating func remove(_ observed: ObservedName) {
        observed.text.withUnsafeBytes { text in
            guard observed.isPattern else { return names.remove(text) }
            patterns.remove(text)
            trie.set(text, nil)
        }
    }

    mutating func removeAll() { self = NameTable() }

    func forEach(_ use: (Value) -> Void) {
        names.forEach(use)
        patterns.forEach(use)
    }

    /// Whether a pattern may match a name: some begin like it. It is asked for each broadcast, and mostly answers no.
    @inline(__always)
    func mayHavePattern(of name: UnsafeRawBufferPointer) -> Bool { hasPatterns && trie.begins(like: name) }

    /// Calls `use` with the value of each pattern that matches a name, in an order that depends on the patterns alone.
    /// - Returns: the number of places of the patterns that were visited.
    @discardableResult
    func forEachPattern(of name: UnsafeRawBufferPointer, _ use: (Value) -> Void) -> Int {
        hasPatterns ? trie.forEachMatch(of: name, use) : 0
    }
}

/// The patterns, as a tree of their segments. A search for a name visits at most 2^9 of its places, because it goes
/// at most two ways at each of a pattern's eight segments (`NamePattern.mostSegments`). The idea is that of NATS's
/// `Sublist`, without its cache.
private final class PatternTrie<Value: AnyObject> {
    /// The place that a sequence of segments leads to.
    private final class Place {
        // Each broadcast reads the first place, on one thread.
        /// The next places by the segments themselves.
        @exclusivity(unchecked) var named = ByteTable<Place>()
        /// The next place by `*`.
        @exclusivity(unchecked) var any: Place?
        /// The value of the pattern that ends here.
        @exclusivity(unchecked) var value: Value?
        /// The value of the pattern that continues with a last `>`.
        @exclusivity(unchecked) var rest: Value?

        var isEmpty: Bool { named.count == 0 && any == nil && value == nil && rest == nil }
    }

    private let root = Place()

    /// Sets the value of a pattern; nil removes it.
    func set(_ pattern: UnsafeRawBufferPointer, _ value: Value?) {
        set(NamePattern.Segments(pattern), value, at: root)
    }

    private func set(_ segments: NamePattern.Segments, _ value: Value?, at place: Place) {
        var segments = segments
        guard let segment = segments.next() else {
            place.value = value
            return
        }
        if NamePattern.isRest(segment), segments.isAtEnd {
            place.rest = value
            return
        }
        let isAny = NamePattern.isAny(segment)
        let next = (isAny ? place.any : place.named.find(segment)) ?? Place()
        set(segments, value, at: next)
        switch (isAny, next.isEmpty) {
        case (true, let isEmpty): place.any = isEmpty ? nil : next
        case (false, true): place.named.remove(segment)
        case (false, false): place.named.set(segment, next)
        }
    }

    /// Whether a pattern has the first segment of a name, or a wildcard in its place.
    func begins(like name: UnsafeRawBufferPointer) -> Bool {
        if root.any != nil || root.rest != nil { return true }
        let first = NamePattern.Segments.first(of: name)
        return root.named.findUnretained(UnsafeRawBufferPointer(start: name.baseAddress, count: first)) != nil
    }

    /// - Returns: the number of places that were visited.
    func forEachMatch(of name: UnsafeRawBufferPointer, _ use: (Value) -> Void) -> Int {
        visit(root, NamePattern.Segments(name), use)
    }

    private func visit(_ place: Place, _ segments: NamePattern.Segments, _ use: (Value) -> Void) -> Int {
        var segments = segments
        guard let segment = segments.next() else {
            if let value = place.value { use(value) }
            return 1
        }
        var visited = 1
        if let rest = place.rest { use(rest) }
        if let next = place.named.find(segment) { visited += visit(next, segments, use) }
        if let any = place.any { visited += visit(any, segments, use) }
        return visited
    }
}
