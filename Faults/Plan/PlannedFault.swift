public import FaultRecord

/// One harm, and when it is done.
public struct PlannedFault: Equatable {
    /// Milliseconds since the app was ready.
    public var at: Int
    public var kind: FaultKind
    /// Whom it befalls; empty where that is said by its kind.
    public var role = ""
    /// How long it lasts.
    public var milliseconds = 0

    public var text: String {
        let time = milliseconds > 0 ? " for \(milliseconds) ms" : ""
        return "\(at) ms: \(kind.name)\(role.isEmpty ? "" : ": \(role)")\(time)"
    }
}
