/// A slot of an `OpenTable`: an entry, or free.
public protocol OpenTableSlot {
    /// Makes a free slot.
    init()
    var isFree: Bool { get }
    /// The entry's hash, which never changes. Its low bits are the index of the entry's preferred
    /// slot.
    var hash: UInt64 { get }
}

/// A hash table with open addressing. An entry is in the first free slot from its preferred one on;
/// a removal moves the following entries up (Knuth's algorithm R). At most half of the slots are
/// used, so searches are short.
///
/// The table's user decides what a key is and what an entry owns. Used on one thread.
@frozen
public struct OpenTable<Slot: OpenTableSlot>: ~Copyable {
    /// The slots; nil until an entry is added.
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

    /// The number of entries.
    @inlinable public var count: Int { taken }

    /// Returns the index of the entry for which `isIt` is true; nil if there is none. Valid until
    /// the table changes.
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

    /// The entry at an index from `find`; a new value must have the same hash.
    @inlinable
    public subscript(place: Int) -> Slot {
        @inline(__always) unsafeAddress { UnsafePointer(slots! + place) }  // because `find` returned the index
        @inline(__always) unsafeMutableAddress { slots! + place }
    }

    /// Adds an entry that isn't in the table.
    @inlinable
    public mutating func add(_ slot: Slot) {
        if taken * 2 > mask { grow() }
        put(slot)
        taken += 1
    }

    @inlinable @inline(__always)
    func put(_ slot: Slot) {
        let slots = slots!  // because `grow` has allocated them
        var index = Int(truncatingIfNeeded: slot.hash) & mask
        while !slots[index].isFree { index = (index + 1) & mask }
        slots[index] = slot
    }

    /// Removes the entry at an index from `find`.
    @inlinable
    public mutating func remove(at place: Int) {
        let slots = slots!  // because `find` returned the index
        var hole = place
        var next = (hole + 1) & mask
        while !slots[next].isFree {
            let home = Int(truncatingIfNeeded: slots[next].hash) & mask
            // An entry whose preferred slot is after the hole stays.
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot()
        taken -= 1
    }

    /// Visits all entries, in no particular order.
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
