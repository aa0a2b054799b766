import ArgumentParser
import StrataCore
import StrataManifest
import StrataOperator

/// `strata why`: tells whether the bus would let a module's message through, and by which rule; or
/// which request waits for which module.
struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says whether a module's call, URL, notification or event would be allowed, and why.",
        discussion: """
            EXAMPLE
              strata why Notes Storage/load               a call
              strata why Notes Storage                    calls of any of its actions
              strata why Notes catalog://note/apt         opening a URL, of this app or of another one
              strata why Storage storage.changed          a broadcast, and who gets it
              strata why Notes log.line --to Log          a report
              strata why Session app.tidy --event         an event that it emits

              strata why --stuck                          what waits for what, right now
              strata why --stuck Notes                    where Notes is involved

            Without --stuck it needs no bus: it reads the manifest, and starts the programs concerned with \
            --describe to learn their actions. It shows all of the bus's checks in order, each \
            with the line of the manifest that decides, then what would change the answer.

            With --stuck it asks the bus for the open requests. Below each request stand those that \
            were made for it. A module that is in a chain twice is marked as a circle.

            Exit codes: 0 it would be allowed; 1 it would be refused; 2 bad usage.
            """)

    @Argument(help: "The sender: a module that the manifest names.", completion: LiveNames.modules)
    var module: String?

    @Argument(help: "Interface/action, an interface, a URL, or the name of a notification or an event.")
    var target: String?

    @Flag(help: "Shows which request waits for which module, on the running bus.")
    var stuck = false

    @Option(help: ArgumentHelp("Makes it a report to this module.", valueName: "module"), completion: LiveNames.modules)
    var to: String?

    @Flag(help: "Takes it for a broadcast, whatever its name looks like.")
    var broadcast = false

    @Flag(help: "Takes it for an event, whatever its name looks like.")
    var event = false

    @Option(help: ArgumentHelp("The manifest.", valueName: "path"), completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Flag(help: "Reads the manifest alone, and starts no executable.")
    var `static` = false

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func validate() throws {
        if stuck {
            if target != nil || broadcast || event || to != nil || `static` {
                throw ValidationError("--stuck takes at most one argument, a module.")
            }
        } else if module == nil || target == nil {
            throw ValidationError("Missing argument: name a module and what it sends, or use --stuck.")
        }
        if [broadcast, event, to != nil].count(where: { $0 }) > 1 {
            throw ValidationError("Use only one of --broadcast, --event and --to.")
        }
    }

    func run() throws {
        if stuck { return try showStuck() }
        guard let module, let target else { return }  // because `validate` has checked it
        try judge(target, from: module)
    }

    private func showStuck() throws(Failure) {
        let connection = try bus.connect()
        let tree = RequestTree(try connection.ask("bus/requests"))
        let trees = module.map(tree.trees(with:)) ?? tree.trees
        if let module, trees.isEmpty {
            let names = try connection.modules().map(\.name)
            guard names.contains(module) else {
                throw Failure(
                    .answer,
                    "unknown-module: there is no module \(Printable.line(module))"
                        + InterfaceActions.hint(nearestNames(to: module, in: names)), code: .unknownModule)
            }
        }
        let view = StuckView(
            trees: trees, module: module, omitted: tree.omitted, now: Int64(Loop.wallMicroseconds / 1_000))
        let answer = Answer(output)
        if answer.isForPrograms { try answer.showEach(view.json) } else { view.show(answer.painter) }
    }

    private func judge(_ target: String, from module: String) throws {
        var app: DescribedApp
        do throws(ManifestErrors) { app = try DescribedApp(manifest) } catch {
            throw Failure(.usage, error.description, isPlain: true)
        }
        try known(module, app)
        if let to, app.manifest.table.guests == nil { try known(to, app) }
        if !`static` { try app.describe(programs(app, target, from: module)) }
        let judgements = try judge(target, from: module, Judge(app.manifest, app.descriptions))
        let answer = Answer(output)
        for (place, judgement) in judgements.enumerated() {
            let view = JudgementView(judgement)
            if answer.isForPrograms {
                try answer.show(view.json)
            } else {
                if place > 0 { StandardOutput.write(line: "") }
                view.show(answer.painter)
            }
        }
        if judgements.contains(where: { !$0.isAllowed }) { exitNow(.answer) }
    }

    private func known(_ name: String, _ app: DescribedApp) throws(Failure) {
        let names = app.manifest.table.modules.map(\.name)
        guard !names.contains(ReplicaName.row(of: name)) else { return }
        throw Failure(
            .usage,
            "no row of \(manifest) names \(name)\(InterfaceActions.hint(nearestNames(to: name, in: names)))")
    }

    /// The modules whose programs are asked; nil for all.
    private func programs(_ app: DescribedApp, _ target: String, from module: String) -> Set<String>? {
        if let to { return [module, to] }
        guard !broadcast, !event else { return nil }
        if Self.isURL(target) { return Judge(app.manifest).isElsewhere(target) ? [] : nil }
        let interface = Name.withoutRouterSuffix(String(target.prefix { $0 != "/" && $0 != "#" }))
        return Judge(app.manifest).provider(of: interface).map { [module, $0] }
    }

    private static func isURL(_ target: String) -> Bool { target.contains("://") }

    private func judge(_ target: String, from module: String, _ judge: Judge) throws(Failure) -> [Judgement] {
        if let to { return [judge.report(try CheckedName.read(target), to: to, from: module)] }
        if broadcast { return [judge.broadcast(try CheckedName.read(target), from: module)] }
        if event { return [judge.emit(try CheckedName.read(target), from: module)] }
        if Self.isURL(target) { return [judge.open(target, from: module)] }
        let interfaces = judge.interfaces
        if target.contains("/") || interfaces.contains(Name.withoutRouterSuffix(target)) {
            return [judge.call(target, from: module)]
        }
        let (notifications, events) = (judge.notifications, judge.events)
        if notifications.contains(target) { return judge.notification(target, from: module) }
        if events.contains(target) { return [judge.emit(target, from: module)] }
        let near =
            InterfaceActions.slashed(target, interfaces).map { [$0] }
            ?? nearestNames(to: target, in: notifications + interfaces + events)
        throw Failure(
            .usage,
            "\(target) is not an Interface/action, an interface, a URL, or a notification or event of this app; "
                + "--broadcast and --event take any name\(InterfaceActions.hint(near))")
    }
}
