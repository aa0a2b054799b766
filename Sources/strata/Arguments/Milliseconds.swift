import ArgumentParser

/// A time as the manifest writes it: an integer with ms, s, m or h; or 0.
struct Milliseconds: ExpressibleByArgument {
    var value: UInt64

    /// The longest deadline that a bus grants.
    static let longest: UInt64 = 86_400_000

    var defaultValueDescription: String { value % 1_000 == 0 ? "\(value / 1_000)s" : "\(value)ms" }

    init?(argument: String) {
        if argument == "0" {
            value = 0
            return
        }
        let digits = argument.prefix { ("0"..."9").contains($0) }
        let units: [Substring: UInt64] = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000]
        guard let count = UInt64(digits), let unit = units[argument.dropFirst(digits.count)] else { return nil }
        let (value, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, value <= Self.longest else { return nil }
        self.value = value
    }
}

/// How long a request may take.
struct TimeoutOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long it may take, of a stream each reply: an integer with ms, s, m or h, 24h at most; 0 is no limit, "
                + "and for streams only.",
            valueName: "time"))
    var timeout: Milliseconds?
}
