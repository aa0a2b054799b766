import StrataCore

/// What is known of a connection that the bus has made to another app.
struct SimulatedLink {
    /// A URL of another app in a simulated peer's request.
    struct URL: Equatable {
        /// The app's index.
        let other: Int
        /// Whether the URL is longer than a small header limit allows.
        let isLong: Bool
        /// Whether the peer asks `bus/canOpen`, and doesn't open it.
        let isAsked: Bool

        /// Returns the URL of a request.
        func text(_ number: Int) -> String {
            "\(SimulatedLink.scheme(other))://h/\(number)" + (isLong ? "/" + String(repeating: "x", count: 300) : "")
        }
    }

    /// The header limits that other apps tell. The small one takes short URLs alone.
    static let headers = [16_384, 16_384, 320]

    /// When the bus connected, in milliseconds of its clock.
    var madeAt: UInt64 = 0
    /// When it was gone, in nanoseconds; `max` for not yet.
    var endedAt = UInt64.max
    /// Whether the bus has said hello.
    var isGreeted = false
    /// Whether the app has sent something else than an answer to hello that the bus accepts.
    var isRefused = false
    /// The header limit in the answer to hello; nil until the bus has accepted one.
    var header: Int?
    /// When a request last came or ended at the earliest, in milliseconds.
    var usedAt: UInt64 = 0
    /// Whether the bus has sent an error that ends the connection, or a remark.
    var wasTold = false

    static func scheme(_ other: Int) -> String { "far\(other)" }

    /// Returns the number of the request that a frame of the bus brings; -1 if it has none.
    static func number(in frame: SimulatedFrame) -> Int { url(in: frame).flatMap(number) ?? -1 }

    /// Returns the URL that a frame of the bus opens or asks about.
    static func url(in frame: SimulatedFrame) -> String? {
        frame.kind == .open ? frame.url : (try? JSON(parsing: frame.body))?["url"]?.string
    }

    private static func number(_ url: String) -> Int? {
        let parts = url.split(separator: "/")
        return parts.count > 2 ? Int(parts[2]) : nil
    }
}
