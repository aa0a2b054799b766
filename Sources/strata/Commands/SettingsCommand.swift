import ArgumentParser
import StrataCore
import StrataManifest
import StrataStubs

/// `strata settings`: shows the modules' settings, and where their values are from.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Shows the modules' settings, and where their values are from.",
        discussion: """
            EXAMPLE
              strata settings                      all modules of ./strata.yaml
              strata settings Catalog              one module
              strata settings --manifest app/strata.yaml
              strata settings --json | jq -r 'select(.declared == false) | .key'

            It reads the manifest, the files of settings.d and the variables of this shell that begin with \
            STRATA_SET_. If the app runs, it asks its modules what they declare. Otherwise, and for a module that \
            doesn't say, it starts the program with --describe, as `strata check` does. With --manifest it asks the bus \
            only if --socket or --app names it. Secrets are never shown. It says on standard error which programs \
            couldn't be asked.
            """)

    @Argument(help: "A module; without one, all of them.", completion: LiveNames.modules)
    var module: String?

    @Option(
        help: ArgumentHelp("The manifest. Default: strata.yaml", valueName: "path"),
        completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String?

    @OptionGroup var symbols: SymbolsOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        let path = manifest ?? "strata.yaml"
        let graph = try symbols.graph()
        var app: DescribedApp
        do throws(ManifestErrors) { app = try DescribedApp(path) } catch {
            throw Failure(.usage, error.description, isPlain: true)
        }
        let all = app.manifest.table.modules.map(\.name)
        if let module, !all.contains(module) {
            throw Failure(
                .answer,
                "\(Printable.line(path)) has no module \(Printable.line(module))"
                    + InterfaceActions.hint(nearestNames(to: module, in: all)))
        }
        let names = module.map { [$0] } ?? all
        // All modules are asked, because any may say that a key is a secret.
        if let connection = try runningApp(app.manifest.table.app, path) { app.describeSettings(connection) }
        try app.describe(Set(all).subtracting(app.descriptions.keys))
        if let graph { app.complete(graph) }
        for remark in app.remarks where module.map({ remark.hasPrefix("\($0): ") }) ?? true {
            StandardError.write("strata: \(Printable.line(remark))")
        }
        for (row, process) in zip(all, app.manifest.processes)
        where process.executable == nil && names.contains(row) && app.descriptions[row] == nil {
            StandardError.write("strata: \(row): its row has no program (run), so it can't be asked what it declares.")
        }
        let settings = ShownSettings(app.manifest, app.descriptions)
        let shown = names.flatMap(settings.settings) + (module == nil ? settings.unused : [])
        let answer = Answer(output)
        if answer.isForPrograms { return try answer.showEach(shown.map(\.json)) }
        show(shown, answer.painter)
    }

    /// Connects to the bus of the manifest's app. Nil if none is found and none is named: the command
    /// needs no bus.
    private func runningApp(_ app: String, _ path: String) throws(Failure) -> CommandClient? {
        let isNamed = bus.socket != nil || bus.app != nil
        guard isNamed || manifest == nil else { return nil }
        do throws(Failure) {
            let connection = try bus.connect()
            guard connection.welcome.app != app else { return connection }
            throw Failure(
                .usage,
                "\(Printable.line(connection.path)) is the bus of \(Printable.line(connection.welcome.app)), and "
                    + "\(Printable.line(path)) is the manifest of \(app): name the one that belongs to the other")
        } catch {
            guard isNamed else { return nil }
            throw error
        }
    }

    private func show(_ settings: [ShownSetting], _ painter: Painter) {
        guard !settings.isEmpty else { return StandardOutput.write(line: "no settings") }
        var table = Table(columns: [
            .init("MODULE"), .init("KEY"), .init("VALUE", isFlexible: true), .init("FROM", isFlexible: true),
            .init("TYPE", isFlexible: true), .init("MEANING", isFlexible: true),
        ])
        for setting in settings {
            table.add([
                .init(setting.module ?? "none", setting.module == nil ? .red : .bold), .init(setting.key),
                .init(setting.value?.description ?? "", setting.layer == "default" ? .dim : .plain), setting.origin,
                setting.type, .init(setting.declared?.schema?.doc ?? ""),
            ])
        }
        table.print(painter)
    }
}

extension ShownSetting {
    fileprivate var declared: DeclaredSetting? {
        if case .declared(let setting) = declaration { setting } else { nil }
    }

    /// Where the value is from: `row strata.yaml:8`, `STRATA_SET_…`, `default`, or that it is missing.
    fileprivate var origin: Table.Cell {
        switch (layer, place) {
        case (let layer?, let place?): .init(place.line == nil ? "\(place)" : "\(layer) \(place)")
        case (let layer?, nil): .init(layer, .dim)
        case (nil, _): declared?.isRequired == true ? .init("missing", .red) : .init("not set", .dim)
        }
    }

    fileprivate var type: Table.Cell {
        switch declaration {
        case .declared(let setting): .init(setting.schema.map(ContractText.type) ?? "", .cyan)
        case .undeclared: .init("undeclared", .yellow)
        case .unknown: .init("not known", .dim)
        }
    }

    fileprivate var json: JSON {
        var members: [JSON.Member] = [
            .init("module", module.map { .string($0) } ?? .null), .init("key", .string(key)),
        ]
        if let value { members.append(.init("value", value)) }
        if let layer { members.append(.init("layer", .string(layer))) }
        if let place {
            if let line = place.line {
                members += [.init("file", .string(place.file)), .init("line", .integer(Int64(line)))]
            } else {
                members.append(.init("variable", .string(place.key)))
            }
        }
        switch declaration {
        case .declared(let setting):
            members.append(.init("declared", .bool(true)))
            if setting.isRequired { members.append(.init("required", .bool(true))) }
            if setting.isSecret { members.append(.init("secret", .bool(true))) }
            if let schema = setting.schema {
                members.append(.init("type", .string(ContractText.type(schema))))
                if let doc = schema.doc { members.append(.init("description", .string(doc))) }
            }
        case .undeclared: members.append(.init("declared", .bool(false)))
        case .unknown: break
        }
        return .object(members)
    }
}
