import StrataCore

/// A map from bytes to objects, for looking up names on the wire without making strings.
struct ByteTable<Value: AnyObject>: ~Copyable {
    private struct Slot: OpenTableSlot {
        var hash: UInt64 = 0
        /// The table's own copy of the key; nil if the slot is free.
        var key: UnsafeMutableRawPointer?
        var count = 0
        var value: Unmanaged<Value>?

        var isFree: Bool { key == nil }

        func free() {
            key?.deallocate()
            value?.release()
        }
    }

    private var table = OpenTable<Slot>()
    /// Random, so that nobody can choose names that collide.
    private let seed = UInt64.random(in: .min ... .max)

    init() {}

    deinit { table.forEach { $0.free() } }

    var count: Int { table.count }

    /// Returns the value of a key; nil if there is none.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer) -> Value? { findUnretained(key)?.takeUnretainedValue() }

    /// Returns the value of a key without a reference; it is valid while the table has it.
    @inline(__always)
    func findUnretained(_ key: UnsafeRawBufferPointer) -> Unmanaged<Value>? {
        find(key, Self.hash(key, seed)).flatMap { table[$0].value }
    }

    func find(_ key: String) -> Value? {
        var key = key
        return key.withUTF8 { find(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    private func find(_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int? {
        table.find(hash) {
            // A used slot has a key.
            $0.hash == hash && $0.count == key.count
                && JSONString.equal(UnsafeRawBufferPointer(start: $0.key, count: key.count), key)
        }
    }

    /// Sets or replaces the value of a key, and retains it.
    mutating func set(_ key: UnsafeRawBufferPointer, _ value: Value) {
        let hash = Self.hash(key, seed)
        if let place = find(key, hash) {
            table[place].value?.release()
            table[place].value = .passRetained(value)
            return
        }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, key.count), alignment: 8)
        if key.count > 0 { copy.copyMemory(from: key.baseAddress!, byteCount: key.count) }
        table.add(Slot(hash: hash, key: copy, count: key.count, value: .passRetained(value)))
    }

    mutating func set(_ key: String, _ value: Value) {
        var key = key
        key.withUTF8 { set(UnsafeRawBufferPointer($0), value) }
    }

    mutating func remove(_ key: UnsafeRawBufferPointer) {
        guard let place = find(key, Self.hash(key, seed)) else { return }
        table[place].free()
        table.remove(at: place)
    }

    mutating func remove(_ key: String) {
        var key = key
        key.withUTF8 { remove(UnsafeRawBufferPointer($0)) }
    }

    mutating func removeAll() { self = ByteTable() }

    func forEach(_ use: (Value) -> Void) {
        table.forEach { use($0.value!.takeUnretainedValue()) }  // because a used slot has a value
    }

    /// Returns a hash: words of eight bytes, multiplied and folded. The last word may repeat bytes
    /// of the one before, which takes a third of the instructions of going byte by byte.
    @inline(__always)
    private static func hash(_ key: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        guard let start = key.baseAddress else { return mix(seed) }
        let count = key.count
        var hash = seed ^ UInt64(truncatingIfNeeded: count)
        guard count >= 8 else {
            var word: UInt64 = 0
            for index in 0..<count {
                word = word << 8 | UInt64(start.load(fromByteOffset: index, as: UInt8.self))
            }
            return mix(hash ^ word)
        }
        let last = start + (count &- 8)
        var place = start
        while place < last {
            hash = mix(hash ^ place.loadUnaligned(as: UInt64.self))
            place += 8
        }
        return mix(hash ^ last.loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    private static func mix(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
