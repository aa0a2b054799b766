import StrataCore

/// When pressure becomes an event, and what the event says.
///
/// A value without I/O; `now` in milliseconds.
struct MemoryPressure {
    /// From one event to the next, at least.
    static let interval: UInt64 = 10_000

    private var lastAt: UInt64?
    private var isOpen = false

    /// The file says that there is pressure.
    /// - Returns: whether it is to be emitted: not soon after the last one, and
    ///   not while that one is still being answered.
    mutating func came(at now: UInt64) -> Bool {
        guard !isOpen, lastAt.map({ now - $0 >= Self.interval }) ?? true else { return false }
        lastAt = now
        isOpen = true
        return true
    }

    /// The modules have answered.
    mutating func answered() { isOpen = false }

    /// The event's params: `{"level", "avg10", "avg60", "avg300"}`, the last
    /// three in percent of the last so many seconds, where the file tells them.
    /// - Parameter text: what the pressure file says.
    static func params(_ level: String, _ text: String) -> JSON {
        var members: [JSON.Member] = [.init("level", .string(level))]
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(level) ") } ?? ""
        for word in line.split(separator: " ") {
            let parts = word.split(separator: "=")
            guard parts.count == 2, parts[0].hasPrefix("avg"), let percent = Double(parts[1]), percent.isFinite else {
                continue
            }
            members.append(.init(String(parts[0]), .number(percent)))
        }
        return .object(members)
    }
}
