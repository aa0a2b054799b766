import ArgumentParser
import StrataCore
import StrataManifest

/// `strata why`: tells whether the bus would let a module's message through, and by which rule.
struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says whether a module's call, URL, notification or event would be allowed, and why.",
        discussion: """
            EXAMPLE
              strata why Notes Storage/load               a call
              strata why Notes Storage                    calls of any of its actions
              strata why Notes catalog://note/apt         opening a URL
              strata why Storage storage.changed          a broadcast, and who gets it
              strata why Notes log.line --to Log          a report
              strata why Session app.tidy --event         an event that it emits

            It needs no bus: it reads the manifest, and starts the programs concerned with \
            --describe to learn their actions. It shows all of the bus's checks in order, each \
            with the line of the manifest that decides, then what would change the answer.

            Exit codes: 0 it would be allowed; 1 it would be refused; 2 bad usage.
            """)

    @Argument(help: "The sender: a module that the manifest names.", completion: LiveNames.modules)
    var module: String

    @Argument(help: "Interface/action, an interface, a URL, or the name of a notification or an event.")
    var target: String

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

    func validate() throws {
        if [broadcast, event, to != nil].count(where: { $0 }) > 1 {
            throw ValidationError("Use only one of --broadcast, --event and --to.")
        }
    }

    func run() throws {
        var app: DescribedApp
        do throws(ManifestErrors) { app = try DescribedApp(manifest) } catch {
            throw Failure(.usage, error.description, isPlain: true)
        }
        try known(module, app)
        if let to, app.manifest.table.guests == nil { try known(to, app) }
        if !`static` { try app.describe(programs(app)) }
        let judgements = try judge(Judge(app.manifest, app.descriptions))
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
        guard !names.contains(name) else { return }
        throw Failure(
            .usage,
            "no row of \(manifest) names \(name)\(InterfaceActions.hint(nearestNames(to: name, in: names)))")
    }

    /// The modules whose programs are asked; nil for all.
    private func programs(_ app: DescribedApp) -> Set<String>? {
        if let to { return [module, to] }
        guard !broadcast, !event, !isURL else { return nil }
        let interface = Name.withoutRouterSuffix(String(target.prefix { $0 != "/" && $0 != "#" }))
        return Judge(app.manifest).provider(of: interface).map { [module, $0] }
    }

    private var isURL: Bool { target.contains("://") }

    private func judge(_ judge: Judge) throws(Failure) -> [Judgement] {
        if let to { return [judge.report(try CheckedName.read(target), to: to, from: module)] }
        if broadcast { return [judge.broadcast(try CheckedName.read(target), from: module)] }
        if event { return [judge.emit(try CheckedName.read(target), from: module)] }
        if isURL { return [judge.open(target, from: module)] }
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
