/// A session's name, which nobody can guess.
enum Token {
    /// 128 bits of the system's random numbers, as hexadecimal digits.
    static func make() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
