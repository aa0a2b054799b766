internal import Glibc

/// The keys of a header's objects that the protocol doesn't know, to find one
/// that comes twice. Open addressing; emptied by counting a generation up.
struct KeySet: ~Copyable {
    private struct Slot {
        var generation: UInt32
        var object: UInt32
        var hash: UInt64
        var key: UnsafeRawBufferPointer
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var capacity = 64
    private var count = 0
    private var generation: UInt32 = 1
    private var objects: UInt32 = 0
    /// So that nobody can choose keys that collide.
    private let seed: UInt64

    init() {
        seed = UInt64.random(in: .min ... .max)
        slots = Self.makeSlots(capacity)
    }

    deinit { slots.deallocate() }

    /// Empties it, for another header.
    @inline(__always)
    mutating func reset() {
        if count > 0 || objects > 0 { empty() }
    }

    private mutating func empty() {
        count = 0
        objects = 0
        if generation == .max {
            slots.deallocate()
            slots = Self.makeSlots(capacity)
            generation = 0
        }
        generation += 1
    }

    /// A number for an object whose keys are its own.
    mutating func newObject() -> UInt32 {
        objects += 1
        return objects
    }

    /// False where the object has the key already.
    mutating func insert(_ key: UnsafeRawBufferPointer, object: UInt32) -> Bool {
        if count * 2 >= capacity { grow() }
        let hash = hash(key, object)
        var index = Int(truncatingIfNeeded: hash) & (capacity - 1)
        while slots[index].generation == generation {
            let slot = slots[index]
            if slot.hash == hash, slot.object == object, slot.key.count == key.count,
                key.count == 0 || memcmp(slot.key.baseAddress!, key.baseAddress!, key.count) == 0
            {
                return false
            }
            index = (index + 1) & (capacity - 1)
        }
        slots[index] = Slot(generation: generation, object: object, hash: hash, key: key)
        count += 1
        return true
    }

    /// FNV-1a over the bytes, mixed once more at the end.
    private func hash(_ key: UnsafeRawBufferPointer, _ object: UInt32) -> UInt64 {
        var hash = 0xcbf2_9ce4_8422_2325 ^ seed ^ UInt64(object) &* 0x9E37_79B9_7F4A_7C15
        for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15 >> 7
    }

    private mutating func grow() {
        let old = slots
        let oldCapacity = capacity
        capacity *= 4
        slots = Self.makeSlots(capacity)
        for index in 0..<oldCapacity where old[index].generation == generation {
            var place = Int(truncatingIfNeeded: old[index].hash) & (capacity - 1)
            while slots[place].generation == generation { place = (place + 1) & (capacity - 1) }
            slots[place] = old[index]
        }
        old.deallocate()
    }

    private static func makeSlots(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        slots.initialize(
            repeating: Slot(generation: 0, object: 0, hash: 0, key: .init(start: nil, count: 0)),
            count: capacity)
        return slots
    }
}
