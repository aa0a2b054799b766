/// Whether the bus is there, and for how long it has not been.
///
/// A value without I/O; `now` in milliseconds.
struct BusPresence {
    /// Since when there has been no connection; nil while there is one.
    private var missing: UInt64?
    private(set) var wasUp = false

    init(at now: UInt64) { missing = now }

    var isUp: Bool { missing == nil }

    /// How long there has been none, 0 where it stands.
    func absence(at now: UInt64) -> UInt64 { missing.map { now - min($0, now) } ?? 0 }

    /// hello was answered.
    /// - Returns: how long it was away; nil the first time.
    mutating func came(at now: UInt64) -> UInt64? {
        defer { (missing, wasUp) = (nil, true) }
        return wasUp ? absence(at: now) : nil
    }

    /// The connection is gone, or could not be made.
    /// - Returns: whether it stood.
    mutating func went(at now: UInt64) -> Bool {
        guard isUp else { return false }
        missing = now
        return true
    }

    /// A broker that doesn't answer was replaced: the next one gets as much time.
    mutating func waitAnew(at now: UInt64) {
        if !isUp { missing = now }
    }
}
