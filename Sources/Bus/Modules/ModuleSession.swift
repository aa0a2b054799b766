import StrataCore

/// What a module's present session is and brings.
struct ModuleSession: StatePart {
    private(set) var pid: Int32 = 0
    private(set) var uid: UInt32 = 0
    /// The events that it listens to.
    private(set) var events: Set<String> = []
    /// What hello said that it requires.
    private(set) var requires: [String] = []
    private(set) var interfaces: [InterfaceRecord] = []
    private(set) var urls: [URLTarget] = []

    /// Another process serves: what it offers is added behind this.
    mutating func begin(_ credentials: PeerCredentials, events: [String], requires: [String]) {
        (pid, uid) = (credentials.pid, credentials.uid)
        (self.events, self.requires) = (Set(events), requires)
    }

    /// It has said a further part of what it brings.
    mutating func add(events: [String], requires: [String]) {
        self.events.formUnion(events)
        self.requires += requires
    }

    mutating func end() { events = [] }

    mutating func add(_ interface: InterfaceRecord) { interfaces.append(interface) }
    mutating func add(_ url: URLTarget) { urls.append(url) }

    /// Forgets the URLs, and the interfaces, that are the session's no more.
    mutating func removeDeadURLs() { urls.removeAll { !$0.isLive } }
    mutating func removeDeadInterfaces() { interfaces.removeAll { !$0.isLive } }

    mutating func takeInterfaces() -> [InterfaceRecord] {
        defer { interfaces = [] }
        return interfaces
    }

    mutating func takeURLs() -> [URLTarget] {
        defer { urls = [] }
        return urls
    }

    /// Without what it offers, which is written down apart.
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &pid)
        try file(2, &uid)
        try file(3, &events)
        try file(4, &requires)
    }
}
