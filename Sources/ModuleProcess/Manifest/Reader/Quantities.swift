/// Sizes and times as the manifest writes them.
enum Quantities {
    /// Bytes: an integer with B, KiB, MiB, GiB or nothing behind it.
    static func size(_ text: String) -> UInt64? {
        quantity(text, ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30], most: 1 << 50)
    }

    /// Milliseconds: an integer with ms, s, m or h behind it; a year at most.
    static func time(_ text: String) -> UInt64? {
        quantity(text, ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000], most: 366 * 24 * 3_600_000)
    }

    private static func quantity(_ text: String, _ units: [String: UInt64], most: UInt64) -> UInt64? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        var unit = text.utf8.dropFirst(digits.count)
        while unit.first == UInt8(ascii: " ") { unit = unit.dropFirst() }
        guard let number = UInt64(Substring(digits)), let factor = units[String(Substring(unit))] else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow || product > most ? nil : product
    }
}
