import StrataCore

/// A key of the manifest's `limits`. The table in docs/manifest.md is made of these keys.
package struct LimitKey {
    let name: String
    /// Whether it is a size in bytes; else a number.
    let isSize: Bool
    /// The range in which the broker can keep its promises.
    let range: ClosedRange<Int>
    let limit: WritableKeyPath<AppTable.Limits, Int>

    /// All keys, in the order in which hello sends the limits.
    package static var all: [LimitKey] {
        [
            size("frame", \.frameSize, 1 << 10...1 << 30), size("header", \.headerSize, 1 << 10...1 << 20),
            count("calls", \.calls), size("queue", \.queue), count("waiting", \.waiting),
            count("observations", \.observations), count("interfaces", \.interfaces), count("urls", \.urls),
            count("instances", \.instances),
            // The last 16 connection slots are reserved for operators and the launcher.
            count("connections", \.connections, from: 17), count("unregistered", \.unregistered), size("held", \.held),
            size("adapted", \.adapted), size("total", \.total),
            // A message about a chain, and the end of one, takes work for each of its requests.
            count("depth", \.depth, to: 1_000),
        ]
    }

    private static func size(
        _ name: String, _ limit: WritableKeyPath<AppTable.Limits, Int>, _ range: ClosedRange<Int> = 1...1 << 40
    ) -> LimitKey {
        LimitKey(name: name, isSize: true, range: range, limit: limit)
    }

    private static func count(
        _ name: String, _ limit: WritableKeyPath<AppTable.Limits, Int>, from least: Int = 1, to most: Int = 1_000_000
    ) -> LimitKey {
        LimitKey(name: name, isSize: false, range: least...most, limit: limit)
    }

    /// The key's row in the table of docs/manifest.md: name, default and range.
    package var row: String {
        "| `\(name)` | \(text(AppTable.Limits()[keyPath: limit])) | \(text(range.lowerBound)) – \(text(range.upperBound)) |"
    }

    /// Returns a value as a manifest would have it.
    private func text(_ value: Int) -> String {
        guard isSize, value > 1 else { return "\(value)" }
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)]
        let (unit, size) = units.first { value % $0.1 == 0 } ?? ("B", 1)
        return "\(value / size)\(unit)"
    }
}

extension AppTable.Limits {
    fileprivate var frameSize: Int {
        get { Int(frame) }
        set { frame = UInt32(newValue) }
    }
    fileprivate var headerSize: Int {
        get { Int(header) }
        set { header = UInt32(newValue) }
    }
}
