import Glibc

enum Timestamp {
    /// The time, in UTC: `2026-01-31T12:00:00Z`.
    static func now() -> String {
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            let count = strftime(text.baseAddress!, 32, "%Y-%m-%dT%H:%M:%SZ", &parts)  // because 32 are allocated
            return text[..<count].reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar(UInt8($1))) }
        }
    }
}
