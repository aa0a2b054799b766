internal import StrataCore

/// Values by numbers of which no two are the same.
struct NumberTable<Value>: ~Copyable {
    struct Slot: OpenTableSlot {
        var number: UInt64 = 0
        var value: Value?

        var isFree: Bool { value == nil }
        var hash: UInt64 { NumberTable.hash(number) }
    }

    private var table = OpenTable<Slot>()

    init() {}

    var count: Int { table.count }

    /// All of them, in the order of their numbers.
    var values: [Value] {
        var slots: [Slot] = []
        table.forEach { slots.append($0) }
        return slots.sorted { $0.number < $1.number }.compactMap(\.value)
    }

    /// Nil takes it out.
    subscript(number: UInt64) -> Value? {
        get { table[place(number)].value }
        set {
            let place = place(number)
            switch (table[place].isFree, newValue) {
            case (true, let value?): table.add(Slot(number: number, value: value))
            case (false, let value?): table[place].value = value
            case (false, nil): table.remove(at: place)
            case (true, nil): break
            }
        }
    }

    /// Takes a value out.
    mutating func take(_ number: UInt64) -> Value? {
        let place = place(number)
        guard let value = table[place].value else { return nil }
        table.remove(at: place)
        return value
    }

    mutating func removeAll() { self = NumberTable() }

    private func place(_ number: UInt64) -> Int { table.place(Self.hash(number)) { $0.number == number } }

    static func hash(_ number: UInt64) -> UInt64 {
        // The golden ratio's bits spread numbers that follow one another.
        (number &* 0x9E37_79B9_7F4A_7C15) >> 32
    }
}
