internal import Glibc
import StrataCore

/// A map from bytes to objects, by open addressing: names on the wire are
/// looked up without making strings of them.
struct ByteTable<Value: AnyObject>: ~Copyable {
    private struct Slot {
        var hash: UInt64 = 0
        /// Owned copies; nil where the slot is free.
        var key: UnsafeMutableRawPointer?
        var count = 0
        var value: Unmanaged<Value>?
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private(set) var count = 0
    /// So that nobody can choose names that collide.
    private let seed = UInt64.random(in: .min ... .max)

    init() {
        mask = 15
        slots = Self.makeSlots(16)
    }

    deinit {
        for index in 0...mask { Self.free(slots[index]) }
        slots.deallocate()
    }

    /// The value of a key.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer) -> Value? { findUnretained(key)?.takeUnretainedValue() }

    /// The value of a key; valid while the table holds it.
    @inline(__always)
    func findUnretained(_ key: UnsafeRawBufferPointer) -> Unmanaged<Value>? {
        guard count > 0 else { return nil }
        let hash = Self.hash(key, seed)
        var index = Int(truncatingIfNeeded: hash) & mask
        while let stored = slots[index].key {
            let slot = slots[index]
            if slot.hash == hash, slot.count == key.count, Self.equal(stored, key) {
                return slot.value
            }
            index = (index + 1) & mask
        }
        return nil
    }

    func find(_ key: String) -> Value? {
        var key = key
        return key.withUTF8 { find(UnsafeRawBufferPointer($0)) }
    }

    /// Where a key stands, or the free place where it would.
    private func index(of key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        var index = Int(truncatingIfNeeded: hash) & mask
        while let stored = slots[index].key {
            if slots[index].hash == hash, slots[index].count == key.count, Self.equal(stored, key) { break }
            index = (index + 1) & mask
        }
        return index
    }

    /// Sets or replaces; retains the value.
    mutating func set(_ key: UnsafeRawBufferPointer, _ value: Value) {
        if count * 2 >= mask { grow() }
        let hash = Self.hash(key, seed)
        let index = index(of: key, hash)
        if slots[index].key != nil {
            slots[index].value?.release()
            slots[index].value = .passRetained(value)
            return
        }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, key.count), alignment: 8)
        if key.count > 0 { copy.copyMemory(from: key.baseAddress!, byteCount: key.count) }
        slots[index] = Slot(hash: hash, key: copy, count: key.count, value: .passRetained(value))
        count += 1
    }

    mutating func set(_ key: String, _ value: Value) {
        var key = key
        key.withUTF8 { set(UnsafeRawBufferPointer($0), value) }
    }

    mutating func remove(_ key: UnsafeRawBufferPointer) {
        let index = index(of: key, Self.hash(key, seed))
        guard slots[index].key != nil else { return }
        Self.free(slots[index])
        count -= 1
        var hole = index
        var next = (index + 1) & mask
        while slots[next].key != nil {
            let home = Int(truncatingIfNeeded: slots[next].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot()
    }

    mutating func remove(_ key: String) {
        var key = key
        key.withUTF8 { remove(UnsafeRawBufferPointer($0)) }
    }

    mutating func removeAll() {
        for index in 0...mask where slots[index].key != nil {
            Self.free(slots[index])
            slots[index] = Slot()
        }
        count = 0
    }

    func forEach(_ use: (Value) -> Void) {
        for index in 0...mask where slots[index].key != nil {
            use(slots[index].value!.takeUnretainedValue())  // because a used slot has a value
        }
    }

    @inline(__always)
    private static func equal(_ stored: UnsafeMutableRawPointer, _ key: UnsafeRawBufferPointer) -> Bool {
        key.count == 0 || memcmp(stored, key.baseAddress!, key.count) == 0
    }

    /// Words of eight bytes, multiplied and folded.
    @inline(__always)
    private static func hash(_ key: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        var hash = seed ^ UInt64(key.count)
        var index = 0
        while index + 8 <= key.count {
            hash = mix(hash ^ key.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        var tail: UInt64 = 0
        while index < key.count {
            tail = tail << 8 | UInt64(key[index])
            index += 1
        }
        return mix(hash ^ tail)
    }

    @inline(__always)
    private static func mix(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    private mutating func grow() {
        let old = slots
        let oldMask = mask
        mask = (mask + 1) * 2 - 1
        slots = Self.makeSlots(mask + 1)
        for index in 0...oldMask where old[index].key != nil {
            var place = Int(truncatingIfNeeded: old[index].hash) & mask
            while slots[place].key != nil { place = (place + 1) & mask }
            slots[place] = old[index]
        }
        old.deallocate()
    }

    private static func makeSlots(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        slots.initialize(repeating: Slot(), count: capacity)
        return slots
    }

    private static func free(_ slot: Slot) {
        slot.key?.deallocate()
        slot.value?.release()
    }
}
