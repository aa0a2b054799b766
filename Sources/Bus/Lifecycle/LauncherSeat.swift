import StrataCore

/// Who the launcher is, and which reloads of the manifest it was asked for.
struct LauncherSeat {
    private(set) var peer: Peer?
    /// The launcher's process, also when its connection has ended.
    private(set) var process: ProcessIdentity?
    /// `bus/reload` calls that came while the launcher was asked, or before it is.
    private(set) var reloads: [CallReference] = []
    /// The reloads that the open question to the launcher is about; nil when none is open.
    private(set) var askedReloads: [CallReference]?

    mutating func take(_ peer: Peer?) { self.peer = peer }

    /// - Parameter process: is the launcher, or is to be.
    mutating func expect(_ process: ProcessIdentity?) { self.process = process }

    // MARK: Reloads

    /// Adds a reload, and forgets the reloads that have ended.
    mutating func add(reload call: CallReference) {
        forgetEndedReloads()
        reloads.append(call)
    }

    mutating func forgetEndedReloads() { reloads.removeAll { !$0.isOpen } }

    /// The launcher is asked for all that came.
    mutating func askForReloads() {
        askedReloads = reloads
        reloads = []
    }

    /// The launcher has answered.
    mutating func takeAsked() -> [CallReference] {
        defer { askedReloads = nil }
        return askedReloads ?? []
    }

    /// Goes on with another program's.
    mutating func resume(reloads: [CallReference], asked: [CallReference]?) {
        self.reloads = reloads
        askedReloads = asked
    }
}
