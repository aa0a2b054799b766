/// Objects by numbers that somebody else gives. Open addressing: an entry
/// stands in the first free place from its own on, and one that goes lets those
/// behind it move up (Knuth's algorithm R).
struct NumberTable<Value: AnyObject> {
    private struct Entry {
        var number: UInt64 = 0
        var value: Value?
    }

    private var entries = [Entry](repeating: Entry(), count: 16)
    private(set) var count = 0

    init() {}

    /// All of them, in no order.
    var values: [Value] { entries.compactMap(\.value) }

    /// Nil takes it out.
    subscript(number: UInt64) -> Value? {
        get { entries[index(of: number)].value }
        set { if let newValue { insert(newValue, number) } else { remove(number) } }
    }

    mutating func removeAll() { self = NumberTable() }

    private mutating func insert(_ value: Value, _ number: UInt64) {
        // At most half are taken, so that searches are short.
        if count * 2 >= entries.count { grow() }
        let index = index(of: number)
        if entries[index].value == nil { count += 1 }
        entries[index] = Entry(number: number, value: value)
    }

    private mutating func remove(_ number: UInt64) {
        var hole = index(of: number)
        guard entries[hole].value != nil else { return }
        count -= 1
        let mask = entries.count - 1
        var next = hole
        while true {
            next = (next + 1) & mask
            guard entries[next].value != nil else { break }
            // One whose own place lies behind the hole stays.
            let distance = (next - place(of: entries[next].number)) & mask
            guard distance >= (next - hole) & mask else { continue }
            entries.swapAt(hole, next)
            hole = next
        }
        entries[hole] = Entry()
    }

    /// Where the number stands, or would.
    private func index(of number: UInt64) -> Int {
        var index = place(of: number)
        while entries[index].value != nil, entries[index].number != number { index = (index + 1) & (entries.count - 1) }
        return index
    }

    private func place(of number: UInt64) -> Int {
        // The golden ratio's bits spread numbers that follow one another.
        Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 32) & (entries.count - 1)
    }

    private mutating func grow() {
        let old = entries
        entries = [Entry](repeating: Entry(), count: old.count * 2)
        for entry in old where entry.value != nil { entries[index(of: entry.number)] = entry }
    }
}
