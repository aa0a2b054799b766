import StrataCore
import StrataManifest

/// What a person is told while an app starts.
extension Launcher {
    /// Each second: who holds things up.
    func sayProgress() {
        guard app.isRunning else { return }
        var starting: [(name: String, activity: String, since: UInt64)] = []
        for supervisor in supervisors {
            guard let activity = supervisor.machine.activity else { continue }
            starting.append((supervisor.name, activity, supervisor.notReadySince))
        }
        for line in progress.tick(starting, at: loop.now) { console.say(of: line.name, line.text) }
    }

    /// Once, when it is known of every row what became of its first start.
    func sayWhenAllReady() {
        guard app.isRunning, order.isOver else { return }
        let starts = supervisors.filter(\.row.isStartedByItself).map { supervisor in
            (name: supervisor.name, fate: supervisor.machine.firstStart)
        }
        guard let summary = progress.summary(starts, at: loop.now) else { return }
        console.say(summary)
        settings.manager.tell(.ready, .status(summary))
        sayWhatIsThere()
    }

    private func sayWhatIsThere() {
        link.call("interfaces", deadline: 5_000) { [weak self] answer in
            guard let self, app.isRunning else { return }
            var interfaces: JSON?
            if case .success(let body) = answer { interfaces = (try? JSON(parsing: body))?["interfaces"] }
            sayWhoIsRefused(interfaces?.array ?? [])
            if settings.isForPerson { sayWhatToTry(interfaces) }
        }
    }

    /// Actions that nobody may call: the manifest doesn't list actions, so that only the
    /// modules that are there tell of them.
    private func sayWhoIsRefused(_ interfaces: [JSON]) {
        guard settings.manifest.table.authorizer == nil else { return }
        for interface in interfaces {
            let guarded = (interface["actions"]?.array ?? []).filter { $0["auth"]?.bool == true }
            guard let name = interface["name"]?.string, let module = interface["module"]?.string,
                let problem = ManifestReview.unauthorized(guarded.compactMap { $0["name"]?.string }, of: name)
            else { continue }
            console.say(of: module, problem)
        }
    }

    private func sayWhatToTry(_ interfaces: JSON?) {
        console.say("try, in another terminal:")
        for command in Suggestions.commands(settings.manifest.table, interfaces: interfaces) {
            console.plain("    \(command)")
        }
        if !settings.hints.isEmpty {
            console.say("there, first:")
            for hint in settings.hints { console.plain("    \(hint)") }
        }
        console.say("ctrl-C ends the app")
    }
}
