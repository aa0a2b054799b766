import StrataCore
import StrataManifest
import StrataOperator

/// Says what an app's start waits for, when something takes long: after a second, then
/// at ever longer intervals; and once what became of it.
///
/// A value without I/O; `now` in milliseconds.
struct StartProgress {
    private struct Told {
        var activity: String
        var since: UInt64
        var nextAfter: UInt64
    }

    /// What became of a module's first start.
    enum Fate {
        /// It is still going on.
        case open
        case ready
        case missed
    }

    private let startedAt: UInt64
    private var told: [String: Told] = [:]
    private var isSummedUp = false

    init(at now: UInt64) { startedAt = now }

    /// - Parameter starts: of the modules that the launcher starts by itself.
    /// - Returns: the first time when none is open any more, what became of them.
    mutating func summary(_ starts: [(name: String, fate: Fate)], at now: UInt64) -> String? {
        guard !isSummedUp, !starts.contains(where: { $0.fate == .open }) else { return nil }
        isSummedUp = true
        let time = seconds(now - startedAt)
        let missed = starts.filter { $0.fate == .missed }.map(\.name)
        switch (starts.count, missed.isEmpty) {
        case (1, true): return "the module is ready after \(time)"
        case (1, false): return "the module, \(missed[0]), is not ready after \(time)"
        case (let count, true): return "all \(count) modules are ready after \(time)"
        case (let count, false):
            return "\(count - missed.count) of \(count) modules are ready after \(time); not \(list(missed))"
        }
    }

    /// - Parameter starting: modules that are not ready, what each one waits for,
    ///   and since when.
    mutating func tick(
        _ starting: [(name: String, activity: String, since: UInt64)], at now: UInt64
    ) -> [(name: String, text: String)] {
        var lines: [(name: String, text: String)] = []
        var next: [String: Told] = [:]
        for (name, activity, since) in starting {
            var entry = told[name] ?? Told(activity: activity, since: since, nextAfter: 1_000)
            let waited = now - min(entry.since, now)
            if waited >= entry.nextAfter {
                lines.append((name, "waits \(activity), \(seconds(waited)) by now"))
                while entry.nextAfter <= waited { entry.nextAfter *= 3 }
            }
            entry.activity = activity
            next[name] = entry
        }
        told = next
        return lines
    }
}

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
            let interfaces = [InterfaceRow]((try? JSON(parsing: (try? answer.get()) ?? [])) ?? [:])
            sayWhoIsRefused(interfaces)
            if settings.isForPerson { sayWhatToTry(interfaces) }
        }
    }

    /// Actions that nobody may call: the manifest doesn't list actions, so that only the
    /// modules that are there tell of them.
    private func sayWhoIsRefused(_ interfaces: [InterfaceRow]) {
        guard settings.manifest.table.authorizer == nil else { return }
        for interface in interfaces {
            let guarded = interface.actions.filter(\.needsAuthorization).map(\.name)
            guard let problem = ManifestReview.unauthorized(guarded, of: interface.name) else { continue }
            console.say(of: interface.module, problem)
        }
    }

    private func sayWhatToTry(_ interfaces: [InterfaceRow]) {
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

/// Three commands that someone who sees an app for the first time can try. Each works
/// as it stands: which params an action takes its module alone knows, so none is called.
enum Suggestions {
    /// - Parameter interfaces: the bus's; none where it wasn't asked.
    static func commands(_ table: AppTable, interfaces: [InterfaceRow]) -> [String] {
        var commands: [String] = []
        if let name = interface(table, interfaces) { commands.append("strata call \(name)") }
        if let url = url(table, interfaces) { commands.append("strata can-open '\(url)'") }
        for command in ["strata ps", "strata routes", "strata levels"] where commands.count < 3 {
            commands.append(command)
        }
        return commands
    }

    /// An interface that lists actions: what stands last in the table is nearest to a user.
    private static func interface(_ table: AppTable, _ interfaces: [InterfaceRow]) -> String? {
        func place(_ interface: InterfaceRow) -> (Int, Int) {
            let index = table.modules.firstIndex { $0.name == interface.module }
            return index.map { (table.modules[$0].rank, $0) } ?? (-1, 0)
        }
        return interfaces.filter { !$0.actions.isEmpty }.max { place($0) < place($1) }?.name
    }

    /// A URL of the app's, one without a part to fill in where there is one.
    private static func url(_ table: AppTable, _ interfaces: [InterfaceRow]) -> String? {
        guard let scheme = table.schemes.first else { return nil }
        let urls =
            table.modules.flatMap { row in row.urls.map { $0.host + $0.path } }
            + interfaces.flatMap(\.urls).map(\.address)
        let best = urls.min { parts($0) < parts($1) }
        return best.map { url in
            let filled = url.split(separator: "/", omittingEmptySubsequences: false).map { segment in
                segment.hasPrefix(":") ? segment.dropFirst().uppercased() : String(segment)
            }
            return "\(scheme)://\(filled.joined(separator: "/"))"
        }
    }

    private static func parts(_ url: String) -> Int { url.split(separator: "/").count { $0.hasPrefix(":") } }
}
