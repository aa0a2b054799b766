/// Calls that a monitor saw, for their answers: which action those are of, and how long
/// it took. The oldest ones give way; their answers are shown without.
public struct SeenCalls: Sendable {
    /// How many are kept.
    public static let most = 4_096

    struct Seen {
        /// Microseconds since 1970.
        var at: Int64
        /// `Interface/action`
        var action: String
    }

    private var byID: [Int64: Seen] = [:]
    /// Their numbers as they came, in a ring.
    private var ids: [Int64] = []
    private var oldest = 0

    /// None yet.
    public init() {}

    /// An answer may be one of several, so none takes its call away.
    subscript(id: Int64) -> Seen? { byID[id] }

    mutating func add(_ id: Int64, _ seen: Seen) {
        if byID.updateValue(seen, forKey: id) != nil { return }
        if ids.count < Self.most {
            ids.append(id)
        } else {
            byID[ids[oldest]] = nil
            ids[oldest] = id
            oldest = (oldest + 1) % Self.most
        }
    }
}
