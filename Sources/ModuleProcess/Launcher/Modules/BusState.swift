/// A module's state, as the broker reports it in `bus/watch`.
enum BusState: String {
    case absent, starting, settingUp, setUp, initializing, ready, stopping, restarting, failed
}

/// A module's state, as the launcher reports it to the broker in `bus/moduleState`.
struct ModuleReport: Equatable {
    enum State: String { case starting, restarting, failed, absent }

    var state: State
    var reason: String
    /// The last lines of the last process; only operators see them.
    var lines: [String] = []
    /// How the last process ended; nil if none has.
    var exit: String?
    /// Whether the process ended because somebody asked for a restart. Then its start hasn't failed,
    /// however far it was.
    var wasAsked = false
}
