/// A table of values by unique numbers. An empty one takes no memory. Used on one thread.
@frozen
public struct NumberTable<Value>: ~Copyable {
    @usableFromInline
    struct Slot: OpenTableSlot {
        @usableFromInline var number: UInt64
        @usableFromInline var value: Value?

        @inlinable
        init(number: UInt64, value: Value?) { (self.number, self.value) = (number, value) }

        @inlinable
        init() { self.init(number: 0, value: nil) }

        @inlinable var isFree: Bool { value == nil }
        @inlinable var hash: UInt64 { NumberTable.hash(number) }
    }

    @usableFromInline var table = OpenTable<Slot>()
    /// No number in the table is larger. Numbers mostly count up, so a new one is found to be new without a
    /// look at the table.
    @usableFromInline var largest: UInt64 = 0

    @inlinable
    public init() {}

    /// The number of values.
    @inlinable public var count: Int { table.count }

    /// All values, ordered by their numbers.
    public var values: [Value] {
        var slots: [Slot] = []
        table.forEach { slots.append($0) }
        return slots.sorted { $0.number < $1.number }.compactMap(\.value)
    }

    /// Calls the body with each value, in no particular order.
    public func forEach(_ body: (Value) -> Void) { table.forEach { if let value = $0.value { body(value) } } }

    /// Setting nil removes the value.
    @inlinable
    public subscript(number: UInt64) -> Value? {
        get { place(number).flatMap { table[$0].value } }
        set {
            switch (place(number), newValue) {
            case (nil, let value?): add(value, number)
            case (let place?, let value?): table[place].value = value
            case (_, nil): remove(number)
            }
        }
    }

    /// Adds a value under a number that isn't in the table.
    @inlinable
    public mutating func add(_ value: Value, _ number: UInt64) {
        largest = max(largest, number)
        table.add(Slot(number: number, value: value))
    }

    /// Removes a value, if it is there.
    @inlinable @inline(__always)
    public mutating func remove(_ number: UInt64) {
        if let place = place(number) { table.remove(at: place) }
    }

    /// Removes and returns a value.
    @inlinable
    public mutating func take(_ number: UInt64) -> Value? {
        guard let place = place(number) else { return nil }
        let value = table[place].value
        table.remove(at: place)
        return value
    }

    @inlinable
    public mutating func removeAll() { self = NumberTable() }

    @inlinable @inline(__always)
    func place(_ number: UInt64) -> Int? {
        number > largest ? nil : table.find(Self.hash(number)) { $0.number == number }
    }

    @inlinable @inline(__always)
    static func hash(_ number: UInt64) -> UInt64 {
        // The bits of the golden ratio spread consecutive numbers.
        (number &* 0x9E37_79B9_7F4A_7C15) >> 32
    }
}
