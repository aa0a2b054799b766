import StrataCore

/// The bus's counters.
struct Statistics: StatePart {
    var calls: UInt64 = 0
    var opens: UInt64 = 0
    var replies: UInt64 = 0
    /// Errors by code, in the order of `ErrorCode.ofTheBus`. The last element counts all codes of
    /// modules' own, because a module can invent any number of them.
    private var codes = [UInt64](repeating: 0, count: ErrorCode.ofTheBus.count + 1)
    var broadcasts: UInt64 = 0
    var notices: UInt64 = 0
    var reports: UInt64 = 0
    /// Calls and reports that the level rule or the call policy refused.
    var violations: UInt64 = 0
    /// Answers, cancels and credits for requests that aren't open.
    var dropped: UInt64 = 0
    /// Connections ended because they fell behind.
    var slowConsumers: UInt64 = 0
    /// Connections ended because they sent bytes that are no frame or no header.
    var badFrames: UInt64 = 0
    /// Notices that a newer one of the same observation replaced.
    var replaced: UInt64 = 0

    init() {}

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &calls)
        try file(2, &opens)
        try file(3, &replies)
        try file(4, &broadcasts)
        try file(5, &notices)
        try file(6, &reports)
        try file(7, &violations)
        try file(8, &dropped)
        try file(9, &slowConsumers)
        try file(10, &badFrames)
        try file(11, &replaced)
        // Another build may have other codes, so they are written by name.
        var counted = errorsByCode
        try file(12, &counted)
        if file.isReading { for error in counted { codes[Self.place(of: error.code)] += error.count } }
    }

    private static let places = Dictionary(uniqueKeysWithValues: zip(ErrorCode.ofTheBus.map(\.rawValue), 0...))

    private static func place(of code: String) -> Int { places[code] ?? places.count }

    mutating func countError(_ code: ErrorCode) { codes[Self.place(of: code.rawValue)] += 1 }

    /// The number of errors with one code.
    struct CountedCode: StatePart {
        var code = ""
        var count: UInt64 = 0

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &code)
            try file(2, &count)
        }
    }

    /// The number of errors for each code that occurred. The codes of modules' own are counted
    /// together, as `modules-own`.
    var errorsByCode: [CountedCode] {
        let names = ErrorCode.ofTheBus.map(\.rawValue) + ["modules-own"]
        return zip(names, codes).filter { $0.1 > 0 }.map { CountedCode(code: $0.0, count: $0.1) }
    }

    /// Each counter with its name on the wire.
    var all: [(String, UInt64)] {
        [
            ("calls", calls), ("opens", opens), ("replies", replies), ("errors", codes.reduce(0, +)),
            ("broadcasts", broadcasts), ("notices", notices), ("reports", reports),
            ("violations", violations), ("dropped", dropped), ("slowConsumers", slowConsumers),
            ("badFrames", badFrames), ("replaced", replaced),
        ]
    }
}
