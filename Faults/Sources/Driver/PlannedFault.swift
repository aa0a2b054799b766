internal import FaultRecord

/// One harm, and when it is done.
struct PlannedFault: Equatable {
    /// Milliseconds since the app was ready.
    var at: Int
    var kind: FaultKind
    /// Whom it befalls; empty where that is said by its kind.
    var role = ""
    /// How long it lasts.
    var milliseconds = 0

    var text: String {
        let time = milliseconds > 0 ? " for \(milliseconds) ms" : ""
        return "\(at) ms: \(kind.name)\(role.isEmpty ? "" : ": \(role)")\(time)"
    }
}
