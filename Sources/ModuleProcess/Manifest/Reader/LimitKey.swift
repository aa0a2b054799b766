import StrataCore

/// A key of the manifest's `limits`. The table in docs/manifest.md is made of these keys.
package struct LimitKey {
    let name: String
    /// What it limits, in one sentence.
    let meaning: String
    /// Whether it is a size in bytes; else a number.
    let isSize: Bool
    /// The range in which the broker can keep its promises.
    let range: ClosedRange<Int>
    let limit: WritableKeyPath<AppTable.Limits, Int>

    /// All keys, in the order in which hello sends the limits.
    package static var all: [LimitKey] {
        [
            size("frame", "The bytes of one frame.", \.frameSize, 1 << 10...1 << 30),
            size("header", "The bytes of a frame's header, at most frame - 4.", \.headerSize, 1 << 10...1 << 20),
            count("calls", "The open requests of one connection.", \.calls),
            size("queue", "The unsent bytes that are queued for one connection.", \.queue),
            count("waiting", "The requests that wait for one module while it starts.", \.waiting),
            count("observations", "The observations of one connection.", \.observations),
            count("interfaces", "The interfaces of one connection.", \.interfaces),
            count("urls", "The URL patterns of one connection.", \.urls),
            count("instances", "The instances of one connection.", \.instances),
            // The last 16 connection slots are reserved for operators and the launcher.
            count("connections", "All connections.", \.connections, from: 17),
            count("unregistered", "The connections that have not said hello.", \.unregistered),
            size("held", "The bytes of one sender that wait for a module or for the authorizer.", \.held),
            size("adapted", "The bytes of a body in which an adapter renames members.", \.adapted),
            size("total", "The bytes that wait for all connections together.", \.total),
            // A message about a chain, and the end of one, takes work for each of its requests.
            count("depth", "The requests in a chain, each made for the one before.", \.depth, to: 1_000),
            // They end together with a session, which takes one or two microseconds for each.
            count("retained", "The retained broadcasts of one module.", \.retained, to: 2_000),
            size("body", "A body in a memory file, and all of one connection that wait in the bus.", \.body),
        ]
    }

    private static func size(
        _ name: String, _ meaning: String, _ limit: WritableKeyPath<AppTable.Limits, Int>,
        _ range: ClosedRange<Int> = 1...1 << 40
    ) -> LimitKey {
        LimitKey(name: name, meaning: meaning, isSize: true, range: range, limit: limit)
    }

    private static func count(
        _ name: String, _ meaning: String, _ limit: WritableKeyPath<AppTable.Limits, Int>, from least: Int = 1,
        to most: Int = 1_000_000
    ) -> LimitKey {
        LimitKey(name: name, meaning: meaning, isSize: false, range: least...most, limit: limit)
    }

    /// The value that stands for a missing key.
    var standard: JSON {
        let value = AppTable.Limits()[keyPath: limit]
        return isSize ? .string(text(value)) : .integer(Int64(value))
    }

    /// The key's row in the table of docs/manifest.md: name, default and range.
    package var row: String {
        "| `\(name)` | \(text(AppTable.Limits()[keyPath: limit])) | \(text(range.lowerBound)) – \(text(range.upperBound)) |"
    }

    /// Returns a value as a manifest would have it.
    private func text(_ value: Int) -> String {
        isSize ? Quantities.text(size: value) : "\(value)"
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
