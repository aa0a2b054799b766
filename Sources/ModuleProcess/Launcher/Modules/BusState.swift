/// A module's state, as the broker tells it in `bus/watch`.
enum BusState: String {
    case absent, starting, settingUp, setUp, initializing, ready, stopping, restarting, failed
}

/// What the launcher tells the broker of a module: `bus/moduleState`.
struct ModuleReport: Equatable {
    enum State: String { case starting, restarting, failed, absent }

    var state: State
    var reason: String
    /// What the last process wrote last; operators alone see it.
    var lines: [String] = []
    /// How the last process ended, where one did.
    var exit: String?
}
