import StrataCore
import StrataManifest
import StrataOperator

/// Reports what a slow start waits for: after a second, then at growing intervals. At the end it
/// reports the result once.
///
/// A value without I/O; `now` is in milliseconds.
struct StartProgress {
    private struct Told {
        var activity: String
        var since: UInt64
        var nextAfter: UInt64
    }

    /// The outcome of a module's first start.
    enum Fate {
        /// The start is still in progress.
        case open
        case ready
        case missed
    }

    private let startedAt: UInt64
    private var told: [String: Told] = [:]
    private var isSummedUp = false

    init(at now: UInt64) { startedAt = now }

    /// Returns a summary the first time that no start is open any more; nil otherwise.
    /// - Parameter starts: The modules that the launcher starts by itself.
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
            return "\(count - missed.count) of \(count) modules are ready after \(time); not ready: \(list(missed))"
        }
    }

    /// Returns the lines that are due.
    /// - Parameter starting: The modules that are not ready, what each waits for, and since when.
    mutating func tick(
        _ starting: [(name: String, activity: String, since: UInt64)], at now: UInt64
    ) -> [(name: String, text: String)] {
        var lines: [(name: String, text: String)] = []
        var next: [String: Told] = [:]
        for (name, activity, since) in starting {
            var entry = told[name] ?? Told(activity: activity, since: since, nextAfter: 1_000)
            let waited = now - min(entry.since, now)
            if waited >= entry.nextAfter {
                lines.append((name, "waits \(activity), for \(seconds(waited)) so far"))
                while entry.nextAfter <= waited { entry.nextAfter *= 3 }
            }
            entry.activity = activity
            next[name] = entry
        }
        told = next
        return lines
    }
}

/// The messages to a person while an app starts.
extension Launcher {
    /// Reports each second which modules delay the start.
    func sayProgress() {
        guard app.isRunning else { return }
        var starting: [(name: String, activity: String, since: UInt64)] = []
        for supervisor in supervisors {
            guard let activity = supervisor.machine.activity else { continue }
            starting.append((supervisor.name, activity, supervisor.notReadySince))
        }
        for line in progress.tick(starting, at: loop.now) { console.say(of: line.name, line.text) }
    }

    /// Reports once, when the first start of every row has an outcome.
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

    /// Reports actions that no one may call. The manifest doesn't list actions, so only connected
    /// modules can tell.
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

/// Suggests three commands to someone who sees an app for the first time. Each works as shown. No
/// action is called, because only its module knows which parameters it takes.
enum Suggestions {
    /// - Parameter interfaces: The bus's interfaces; empty if it wasn't asked.
    static func commands(_ table: AppTable, interfaces: [InterfaceRow]) -> [String] {
        var commands: [String] = []
        if let name = interface(table, interfaces) { commands.append("strata call \(name)") }
        if let url = url(table, interfaces) { commands.append("strata can-open '\(url)'") }
        for command in ["strata ps", "strata routes", "strata levels"] where commands.count < 3 {
            commands.append(command)
        }
        return commands
    }

    /// Returns an interface that lists actions: the last in the table, which is nearest to a user.
    private static func interface(_ table: AppTable, _ interfaces: [InterfaceRow]) -> String? {
        func place(_ interface: InterfaceRow) -> (Int, Int) {
            let index = table.modules.firstIndex { $0.name == interface.module }
            return index.map { (table.modules[$0].rank, $0) } ?? (-1, 0)
        }
        return interfaces.filter { !$0.actions.isEmpty }.max { place($0) < place($1) }?.name
    }

    /// Returns a URL of the app, preferably one without placeholders.
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
