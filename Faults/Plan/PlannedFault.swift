public import FaultRecord

/// One fault, and its time.
public struct PlannedFault: Equatable {
    /// The time in milliseconds since the app was ready.
    public var at: Int
    public var kind: FaultKind
    /// The role that it hits; empty if its kind determines that.
    public var role = ""
    /// How long it lasts, in milliseconds.
    public var milliseconds = 0

    public var text: String {
        let time = milliseconds > 0 ? " for \(milliseconds) ms" : ""
        return "\(at) ms: \(kind.name)\(role.isEmpty ? "" : ": \(role)")\(time)"
    }
}
