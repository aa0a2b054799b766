/// A place in an `OpenTable`: an entry, or free.
public protocol OpenTableSlot {
    /// A free one.
    init()
    var isFree: Bool { get }
    /// Its entry's, always the same. Its low bits say where the entry would stand best.
    var hash: UInt64 { get }
}

/// Entries found by hash, by open addressing: an entry stands in the first free place from its
/// own on, and one that goes lets those behind it move up (Knuth's algorithm R). At most half of
/// the places are taken, so that searches are short.
///
/// What a key is, and what an entry owns, is its user's affair. For one thread.
@frozen
public struct OpenTable<Slot: OpenTableSlot>: ~Copyable {
    @usableFromInline var slots: UnsafeMutablePointer<Slot>
    @usableFromInline var mask: Int
    @usableFromInline var taken = 0

    public init() {
        mask = 15
        slots = Self.makeSlots(16)
    }

    deinit {
        slots.deinitialize(count: mask + 1)
        slots.deallocate()
    }

    /// How many entries there are.
    @inlinable public var count: Int { taken }

    /// Where the entry is that `isIt` knows, or else the free place where it would be. Valid
    /// until the table changes.
    @inlinable @inline(__always)
    public func place(_ hash: UInt64, _ isIt: (Slot) -> Bool) -> Int {
        var index = Int(truncatingIfNeeded: hash) & mask
        while !slots[index].isFree, !isIt(slots[index]) { index = (index + 1) & mask }
        return index
    }

    /// What stands in a place; what is set there has the hash of the place.
    @inlinable
    public subscript(place: Int) -> Slot {
        @inline(__always) unsafeAddress { UnsafePointer(slots + place) }
        @inline(__always) unsafeMutableAddress { slots + place }
    }

    /// Enters what isn't there yet.
    @inlinable
    public mutating func add(_ slot: Slot) {
        if taken * 2 >= mask { grow() }
        slots[place(slot.hash) { _ in false }] = slot
        taken += 1
    }

    /// Takes out what stands in a place.
    @inlinable
    public mutating func remove(at place: Int) {
        var hole = place
        var next = (hole + 1) & mask
        while !slots[next].isFree {
            let home = Int(truncatingIfNeeded: slots[next].hash) & mask
            // One whose own place lies behind the hole stays.
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot()
        taken -= 1
    }

    /// Visits all entries, in no order.
    @inlinable
    public func forEach(_ use: (Slot) -> Void) {
        for index in 0...mask where !slots[index].isFree { use(slots[index]) }
    }

    @inlinable @inline(never)
    mutating func grow() {
        var larger = Self(capacity: (mask + 1) * 2)
        forEach { larger.slots[larger.place($0.hash) { _ in false }] = $0 }
        larger.taken = taken
        self = larger
    }

    @usableFromInline
    init(capacity: Int) {
        mask = capacity - 1
        slots = Self.makeSlots(capacity)
    }

    @usableFromInline
    static func makeSlots(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        slots.initialize(repeating: Slot(), count: capacity)
        return slots
    }
}
