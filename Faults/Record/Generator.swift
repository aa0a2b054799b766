/// A generator whose numbers are the same in each run with the same seed (SplitMix64, Steele and
/// others, 2014).
public struct Generator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator. Mixes the seed, too, because neighbouring seeds would otherwise give
    /// the same numbers one step later.
    public init(_ seed: UInt64) { state = Self.mixed(seed &+ 0x5851_F42D_4C95_7F2D) }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    private static func mixed(_ state: UInt64) -> UInt64 {
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    public mutating func pick<Element>(_ list: [Element]) -> Element { list[Int(next() % UInt64(list.count))] }

    public mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// Returns one of the elements, each as often as its weight says.
    public mutating func pick<Element>(weighted list: [(Element, Int)]) -> Element {
        var place = number(0...(list.reduce(0) { $0 + $1.1 } - 1))
        for (element, weight) in list {
            if place < weight { return element }
            place -= weight
        }
        return list[0].0
    }
}
