/// Counts of values by magnitude, each split in 16, so that a percentile is right
/// within 7 % (after Gil Tene's HdrHistogram). Memory is taken for the magnitudes
/// that come: 128 bytes for each, 8 KiB at most. For one thread.
@frozen
public struct Histogram: ~Copyable {
    @usableFromInline typealias Row = UnsafeMutablePointer<UInt64>
    @usableFromInline static var split: Int { 16 }
    @usableFromInline static var rowCount: Int { 61 }

    @usableFromInline let rows: UnsafeMutablePointer<Row?>
    @usableFromInline var total: UInt64 = 0
    @usableFromInline var most: UInt64 = 0

    /// How many values there were.
    public var count: UInt64 { total }
    public var largest: UInt64 { most }

    public init() {
        rows = .allocate(capacity: Self.rowCount)
        rows.initialize(repeating: nil, count: Self.rowCount)
    }

    /// Goes on with the counts of another one, by slot; those of no slot are left out.
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

    /// The slots that have counted something, in order.
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

    /// The value that a share of the recorded ones doesn't exceed, as the upper bound of
    /// its slot; 0 where there is none.
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
        let row = rows[slot / Self.split] ?? makeRow(slot / Self.split)
        row[slot % Self.split] += number
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
        // Wraps to the largest value in the last slot.
        return ((UInt64(slot % split) + 16 + 1) << (magnitude - 4)) &- 1
    }
}
