/// Counts of values by magnitude, each of which is split in 16, so a percentile is accurate to 7 %
/// (after Gil Tene's HdrHistogram). Memory is allocated for the magnitudes that occur: 128 bytes
/// for each, 8 KiB at most. Used on one thread.
@frozen
public struct Histogram: ~Copyable {
    @usableFromInline typealias Row = UnsafeMutablePointer<UInt64>
    @usableFromInline static var split: Int { 16 }
    @usableFromInline static var rowCount: Int { 61 }

    @usableFromInline let rows: UnsafeMutablePointer<Row?>
    @usableFromInline var total: UInt64 = 0
    @usableFromInline var most: UInt64 = 0

    /// The number of recorded values.
    public var count: UInt64 { total }
    public var largest: UInt64 { most }

    public init() {
        rows = .allocate(capacity: Self.rowCount)
        rows.initialize(repeating: nil, count: Self.rowCount)
    }

    /// Continues from another histogram's counts by slot; counts of unknown slots are ignored.
    public init(_ counted: [(slot: Int, count: UInt64)], largest: UInt64) {
        self.init()
        for (slot, number) in counted where (0..<Self.rowCount * Self.split).contains(slot) {
            add(number, to: slot)
        }
        most = largest
    }

    deinit {
        for row in 0..<Self.rowCount { rows[row]?.deallocate() }
        rows.deallocate()
    }

    /// The slots with a count over 0, in order.
    public var counted: [(slot: Int, count: UInt64)] {
        (0..<Self.rowCount * Self.split).compactMap { slot in
            guard let row = rows[slot / Self.split], row[slot % Self.split] > 0 else { return nil }
            return (slot, row[slot % Self.split])
        }
    }

    @inlinable @inline(__always)
    public mutating func record(_ value: UInt64) {
        add(1, to: Self.slot(value))
        if value > most { most = value }
    }

    /// Returns a value that the given share of the values doesn't exceed, as its slot's upper
    /// bound; 0 if there are no values.
    public func percentile(_ share: Double) -> UInt64 {
        let wanted = UInt64((share * Double(count)).rounded(.up))
        var seen: UInt64 = 0
        for (slot, number) in counted {
            seen += number
            if seen >= wanted { return min(Self.upperBound(slot), largest) }
        }
        return largest
    }

    @inlinable @inline(__always)
    mutating func add(_ number: UInt64, to slot: Int) {
        // Shifts, because a signed division costs three times as much.
        let row = rows[slot >> 4] ?? makeRow(slot >> 4)
        row[slot & 15] += number
        total += number
    }

    @inline(never) @usableFromInline
    func makeRow(_ row: Int) -> Row {
        let counts = Row.allocate(capacity: Self.split)
        counts.initialize(repeating: 0, count: Self.split)
        rows[row] = counts
        return counts
    }

    @inlinable @inline(__always)
    static func slot(_ value: UInt64) -> Int {
        guard value >= UInt64(split) else { return Int(value) }
        let magnitude = 63 - value.leadingZeroBitCount
        return (magnitude - 3) * split + Int((value >> UInt64(magnitude - 4)) & 15)
    }

    private static func upperBound(_ slot: Int) -> UInt64 {
        guard slot >= split else { return UInt64(slot) }
        let magnitude = UInt64(slot / split + 3)
        // In the last slot this wraps around to the largest value.
        return ((UInt64(slot % split) + 16 + 1) << (magnitude - 4)) &- 1
    }
}
