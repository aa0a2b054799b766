public import FaultRecord

/// One fault, and its time.
public struct PlannedFault: Equatable {
    /// The time in milliseconds since the app was ready.
    public var at: Int
    public var kind: FaultKind
    /// The role that it hits; empty if its kind determines that.
    public var role = ""
    /// The node that it hits, unless its kind or its role determines that.
    public var node = 0
    /// How long it lasts, in milliseconds.
    public var milliseconds = 0

    /// The number of replicas that a row gets.
    public var replicas = 0

    public var text: String {
        let time = milliseconds > 0 ? " for \(milliseconds) ms" : ""
        let number = replicas > 0 ? " to \(replicas)" : ""
        return "\(at) ms: \(kind.name)\(role.isEmpty ? "" : ": \(role)")\(number)\(time)"
    }
}
