public import StrataCore

/// What a replay has found.
public struct ReplayCount: Sendable {
    /// The processes that were started.
    public internal(set) var starts = 0
    /// The calls whose answers were compared.
    public internal(set) var answered = 0
    /// The module's own requests that were compared.
    public internal(set) var requests = 0
    /// The notices that it got.
    public internal(set) var notices = 0
    /// What could not be sent, because its body isn't in the recording.
    public internal(set) var unsent = 0
    public internal(set) var differences = 0

    init() {}

    public var json: JSON {
        let counts = [
            ("starts", starts), ("answers", answered), ("requests", requests), ("notices", notices),
            ("unsent", unsent), ("differences", differences),
        ]
        return .object(counts.map { JSON.Member($0.0, .integer(Int64($0.1))) })
    }
}
