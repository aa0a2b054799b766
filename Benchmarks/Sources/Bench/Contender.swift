/// Who is measured: a bus with raw clients, or the project's with one of its own clients.
enum Contender: String, CaseIterable {
    case floor
    case strata
    case dbus = "dbus-broker"
    case nats = "nats-server"
    case c = "strata, C"
    case bytes = "strata, Swift, bytes"
    case async = "strata, Swift, bytes, async"
    case typed = "strata, Swift, typed"

    var hasRawClients: Bool { self == .floor || self == .strata || isForeign }

    /// Another project's: a run goes on without it.
    var isForeign: Bool { self == .dbus || self == .nats }

    /// What the raw clients call the bus.
    var clientName: String {
        switch self {
        case .floor: "floor"
        case .strata, .c, .bytes, .async, .typed: "strata"
        case .dbus: "dbus"
        case .nats: "nats"
        }
    }

    /// The program that this machine lacks for it, if it does.
    var missingProgram: String? {
        switch self {
        case .dbus: Files.program("dbus-broker") == nil ? "dbus-broker" : nil
        case .nats: Files.program("nats-server") == nil ? "nats-server" : nil
        default: nil
        }
    }
}
