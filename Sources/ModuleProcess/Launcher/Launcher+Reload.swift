import StrataCore
import StrataManifest
import StrataOperator

/// Reloading the manifest.
extension Launcher {
    /// Handles `launcher/reload`. Answers with the new table, or with every error. The broker puts
    /// the table in force, or refuses it; then the launcher goes back to the old manifest.
    func reload(_ call: BusClient.Incoming) {
        guard !awaitsVerdict else {
            nextReload = call
            return
        }
        // A change of the number of replicas alone leaves the file as it is.
        let keeps = (try? JSON(parsing: call.body))?["keep"]?.bool == true
        switch keeps ? .success(written) : readAgain() {
        case .failure(let error): link.client.fail(call.id, error)
        case .success(let read):
            let old = (manifest: settings.manifest, written: written)
            written = read
            let manifest = read.inForce(replicaCounts)
            let change = apply(manifest)
            link.client.reply(call.id, manifest.table.json().encoded())
            // Until the broker has answered, the change starts and stops no process.
            awaitsVerdict = true
            link.call("reloaded") { [weak self] in self?.judged($0, change, old.manifest, old.written) }
        }
    }

    /// The errors with which a broker refuses a table. One of an earlier build refuses none, and
    /// one that has ended starts again with the new table.
    private static let refusals: Set<ErrorCode> = [.incompatible, .badParams, .tooLarge]

    private func judged(_ answer: BusClient.Answer, _ change: Change, _ old: Manifest, _ writtenBefore: Manifest) {
        awaitsVerdict = false
        let waiting = nextReload
        nextReload = nil
        guard app.isRunning else { return }
        let code: ErrorCode? = if case .failure(let error) = answer { error.code } else { nil }
        if let code, Self.refusals.contains(code) {
            written = writtenBefore
            for new in apply(old).went { dismiss(new) }
        } else {
            begin(change)
        }
        // With a connection, the question that came over it has ended too.
        if let waiting, code != .died { reload(waiting) }
    }

    /// Handles SIGHUP without a terminal: asks the broker, which calls `launcher/reload`.
    func reloadBySignal() {
        console.say("SIGHUP: the manifest is read again")
        link.call("reload") { [weak self] answer in
            if case .failure(let error) = answer { self?.console.say("the manifest stays as it was: \(error.message)") }
        }
    }

    private func readAgain() -> Result<Manifest, BusError> {
        settings.manager.tell(.reloading)
        defer { settings.manager.tell(.ready) }
        guard let reload = settings.reload else {
            return .failure(BusError(.unavailable, "this launcher has no manifest file to read again"))
        }
        let manifest: Manifest
        switch reload() {
        case .failure(let error): return .failure(BusError(.badParams, error.message))
        case .success(let new): manifest = new
        }
        return Result { () throws(BusError) in
            try manifest.table.mayFollow(settings.manifest.table)
            return manifest
        }
    }

    /// The changes to the processes that a new manifest brings.
    private struct Change {
        /// The modules whose row is new.
        var came: [Supervisor] = []
        /// The modules whose row now lets the launcher start them by itself, and did not before.
        var wanted: [Supervisor] = []
        /// The modules whose row was removed, or moved to another node.
        var went: [Supervisor] = []
    }

    /// Applies a new manifest. A changed row takes effect at the process's next start; the broker
    /// learns of the change before it gets the table.
    private func apply(_ manifest: Manifest) -> Change {
        settings.manifest = manifest
        surroundings.env = manifest.table.env
        surroundings.inherited = ProcessEnvironment.inherited(settings.environment, by: manifest)
        keeper?.update(manifest.table, surroundings)
        if let settings = LinkSettings(manifest) { linkKeeper?.update(settings, surroundings) }
        let table = manifest.table
        console.align(to: manifest.here.map(\.row.name))
        var known = supervisors
        var kept: [Supervisor] = []
        var change = Change()
        for (row, process) in manifest.here {
            if let index = known.firstIndex(where: { $0.name == row.name }) {
                let supervisor = known.remove(at: index)
                kept.append(supervisor)
                if supervisor.isRemoved {
                    change.came.append(supervisor)
                } else if row.isStartedByItself, !supervisor.row.isStartedByItself {
                    change.wanted.append(supervisor)
                }
                let before = supervisor.pending
                supervisor.update(row, process, startup: table.startup)
                if supervisor.pending != before { vouch(for: supervisor) }
            } else {
                let supervisor = Supervisor(row, process, startup: table.startup, owner: self)
                kept.append(supervisor)
                change.came.append(supervisor)
            }
        }
        // A row that was removed, or that moved to another node, stays known until its process has
        // ended.
        supervisors = kept + known
        change.went = known
        return change
    }

    private func begin(_ change: Change) {
        for gone in change.went { dismiss(gone) }
        for supervisor in change.came {
            supervisor.rowIsInForce()
            supervisor.change { $0.busCame(at: loop.now) }
            if supervisor.row.isStartedByItself {
                supervisor.change { $0.start(at: loop.now, reason: "its row is new in the manifest") }
            }
        }
        for supervisor in change.wanted {
            supervisor.change {
                $0.start(at: loop.now, reason: "its row says start: \(supervisor.row.start.rawValue) now")
            }
        }
        console.say("the manifest was read again")
        events?.emit("reload")
    }
}

extension Launcher {
    /// Stops a module whose row is gone from here, and forgets it when it has ended.
    private func dismiss(_ supervisor: Supervisor) {
        let moved = settings.manifest.table.modules.first { $0.name == supervisor.name }
        supervisor.remove(moved.map { "its row moved to \($0.placement)" } ?? "its row was removed from the manifest")
        forgetRemoved(supervisor)
    }
}

extension AppTable.Row {
    /// Whether the launcher starts the module without being asked.
    var isStartedByItself: Bool { start == .eager || start == .async }
}

extension ModuleProcess {
    /// Returns the manifest's keys that differ between two rows and that take effect only when a
    /// process starts.
    func changes(to other: ModuleProcess) -> [String] {
        var keys: [String] = []
        if run != other.run || executable != other.executable { keys.append("run") }
        if folder != other.folder { keys.append("folder") }
        if user != other.user { keys.append("user") }
        if env != other.env { keys.append("env") }
        if keepEnv != other.keepEnv { keys.append("keepEnv") }
        return keys
    }
}
