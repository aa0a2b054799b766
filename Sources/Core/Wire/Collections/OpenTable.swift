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
    /// Nil until something is added.
    @usableFromInline var slots: UnsafeMutablePointer<Slot>?
    @usableFromInline var mask = -1
    @usableFromInline var taken = 0

    @inlinable
    public init() {}

    @inlinable
    deinit {
        slots?.deinitialize(count: mask + 1)
        slots?.deallocate()
    }

    /// How many entries there are.
    @inlinable public var count: Int { taken }

    /// The place of the entry that `isIt` knows; nil where there is none. Valid until the table changes.
    @inlinable @inline(__always)
    public func find(_ hash: UInt64, _ isIt: (Slot) -> Bool) -> Int? {
        guard taken > 0, let slots else { return nil }
        var index = Int(truncatingIfNeeded: hash) & mask
        while !slots[index].isFree {
            if isIt(slots[index]) { return index }
            index = (index + 1) & mask
        }
        return nil
    }

    /// What stands in a place that `find` gave; what is set there has the same hash.
    @inlinable
    public subscript(place: Int) -> Slot {
        @inline(__always) unsafeAddress { UnsafePointer(slots! + place) }  // because `find` gave the place
        @inline(__always) unsafeMutableAddress { slots! + place }
    }

    /// Enters what isn't there yet.
    @inlinable
    public mutating func add(_ slot: Slot) {
        if taken * 2 > mask { grow() }
        put(slot)
        taken += 1
    }

    @inlinable @inline(__always)
    func put(_ slot: Slot) {
        let slots = slots!  // because the table has grown
        var index = Int(truncatingIfNeeded: slot.hash) & mask
        while !slots[index].isFree { index = (index + 1) & mask }
        slots[index] = slot
    }

    /// Takes out what stands in a place that `find` gave.
    @inlinable
    public mutating func remove(at place: Int) {
        let slots = slots!  // because `find` gave the place
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
        guard let slots else { return }
        for index in 0...mask where !slots[index].isFree { use(slots[index]) }
    }

    @inlinable @inline(never)
    mutating func grow() {
        var larger = Self()
        let capacity = max(8, (mask + 1) * 2)
        larger.slots = .allocate(capacity: capacity)
        larger.slots?.initialize(repeating: Slot(), count: capacity)
        larger.mask = capacity - 1
        larger.taken = taken
        forEach { larger.put($0) }
        self = larger
    }
}
