/// `ActionDeaths.Entry`.
struct ActionDeathState: StatePart {
    var action = ""
    var deaths: [UInt64] = []
    var setAsideUntil: UInt64?

    init() {}

    init(_ entry: ActionDeaths.Entry) {
        action = entry.action
        deaths = entry.deaths
        setAsideUntil = entry.setAsideUntil
    }

    var entry: ActionDeaths.Entry { .init(action: action, deaths: deaths, setAsideUntil: setAsideUntil) }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&action)
        try file(&deaths)
        try file(&setAsideUntil)
    }
}

/// `ModuleDeath`.
struct ModuleDeathState: StatePart {
    var at: UInt64 = 0
    var session = 0
    var calls = 0
    var actions: [String] = []
    var unnamed = 0

    init() {}

    init(_ death: ModuleDeath) {
        (at, session, calls, actions, unnamed) = (death.at, death.session, death.calls, death.actions, death.unnamed)
    }

    var death: ModuleDeath {
        ModuleDeath(at: at, session: session, calls: calls, actions: actions, unnamed: unnamed)
    }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&at)
        try file(&session)
        try file(&calls)
        try file(&actions)
        try file(&unnamed)
    }
}
