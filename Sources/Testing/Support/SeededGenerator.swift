/// A generator whose numbers are the same in each run, so that a failure can be repeated
/// (SplitMix64, Steele and others, 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator. Neighbouring seeds give unrelated numbers.
    package init(_ seed: Int) { state = Self.mix(UInt64(truncatingIfNeeded: seed)) }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// Returns a number from 0 up to, but not including, `bound`.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns true in `times` out of `cases` cases, on average.
    package mutating func chance(_ times: Int, in cases: Int) -> Bool { below(cases) < times }

    private static func mix(_ number: UInt64) -> UInt64 {
        var word = number
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
