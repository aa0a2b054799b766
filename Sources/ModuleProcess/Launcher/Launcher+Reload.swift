import StrataCore
import StrataManifest
import StrataOperator

/// Reloading the manifest.
extension Launcher {
    /// Handles `launcher/reload`. Answers with the new table, which the broker takes over, or with
    /// every error.
    func reload(_ call: BusClient.Incoming) {
        switch readAgain() {
        case .failure(let error): link.client.fail(call.id, error)
        case .success(let manifest):
            let change = apply(manifest)
            link.client.reply(call.id, manifest.table.json().encoded())
            begin(change)
        }
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
        /// The modules whose row was removed.
        var went: [Supervisor] = []
    }

    /// Applies a new manifest. A changed row takes effect at the process's next start; the broker
    /// learns of the change before it gets the table.
    private func apply(_ manifest: Manifest) -> Change {
        settings.manifest = manifest
        keeper?.update(manifest.table)
        surroundings.env = manifest.table.env
        let table = manifest.table
        console.align(to: table.modules.map(\.name))
        var known = supervisors
        var kept: [Supervisor] = []
        var change = Change()
        for (row, process) in zip(table.modules, manifest.processes) {
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
        // A removed row stays known until its process has ended.
        supervisors = kept + known
        change.went = known
        return change
    }

    private func begin(_ change: Change) {
        for gone in change.went {
            gone.remove()
            forgetRemoved(gone)
        }
        for supervisor in change.came {
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
