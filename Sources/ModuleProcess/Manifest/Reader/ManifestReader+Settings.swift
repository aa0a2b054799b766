import Glibc
import StrataCore

/// The values of settings. Their layers are read in their order, so of two values for a row the later
/// one counts.
extension ManifestReader {
    static let settingPrefix = "STRATA_SET_"
    private static let example = "{catalog.page: 20}"

    /// Reads the app's `settings`: values, or any JSON for modules that declare none.
    func settings(_ field: Field?) {
        guard let field else { return }
        if case .mapping = field.node.content { return add(entries(field), .app) }
        otherSettings = field
        if let json = json(field) { table.settings = json }
    }

    /// Reads a row's own `settings` and `secrets`.
    func settings(_ members: [String: Field], of row: AppTable.Row) {
        add(entries(members["settings"], like: Self.example), .row, of: row.name)
        guard let field = members["secrets"] else { return }
        guard case .mapping = field.node.content else {
            return fail(field, "expected a mapping such as {session.key: {file: session.key}}\(Self.noValue)")
        }
        for entry in entries(field) {
            guard case .mapping = entry.value.node.content else {
                fail(entry.value, "expected {file: PATH} or {env: NAME}\(Self.noValue)")
                continue
            }
            let source = self.members(entry.value, .secret)
            let place = Self.place(entry, files)
            switch (source["file"], source["env"]) {
            case (let file?, nil):
                guard let path = text(file, "a file's path", where: { !$0.isEmpty }) else { continue }
                secrets.append(.init(key: entry.key, row: row.name, source: .file(absolute(path)), place: place))
            case (nil, let variable?):
                guard let name = text(variable, "a variable's name", where: Self.isVariable) else { continue }
                secrets.append(.init(key: entry.key, row: row.name, source: .variable(name), place: place))
            default: fail(entry.value, "expected one of the keys file and env")
            }
        }
    }

    /// A secret that somebody wrote into the manifest isn't repeated.
    private static let noValue = "; the value of a secret never stands in a manifest"

    private func add(_ entries: [Field.Entry], _ layer: SettingValue.Layer, of row: String? = nil) {
        for entry in entries {
            guard let value = json(entry.value) else { continue }
            settings.append(
                .init(key: entry.key, value: value, row: row, layer: layer, place: Self.place(entry, files)))
        }
    }

    private static func place(_ entry: Field.Entry, _ files: [String]) -> SettingPlace {
        let node = entry.value.node
        // For a reader, a value of several lines begins at its key.
        let isShort = if case .scalar = node.content { !node.isNull } else { false }
        return SettingPlace(
            file: files[node.file], number: node.file, line: isShort ? node.line : entry.keyLine,
            column: isShort ? node.column : entry.keyColumn, key: entry.value.path)
    }

    // MARK: settings.d

    /// Reads the files of the folder `settings.d` beside the manifest, if there is one.
    func readSettingFiles(_ size: inout ManifestSize) {
        let folder = (ManifestFile.parent(of: files[0]) ?? "") + "settings.d"
        guard access(folder, F_OK) == 0 || errno != ENOENT else { return }
        let paths: [String]
        do throws(ManifestFile.Failure) { paths = try Self.matching(folder + "/*.yaml") } catch {
            return fail("", nil, nil, "its folder settings.d \(error.message)")
        }
        guard files.count - 1 + paths.count <= ManifestSize.mostIncluded else {
            return fail("", nil, nil, "expected at most \(ManifestSize.mostIncluded) files beside it; found more")
        }
        for path in paths {
            files.append(path)
            let number = files.count - 1
            do throws(ManifestFile.Failure) {
                let tree = try ManifestFile.tree(path, number: number, &size)
                guard let tree, case .mapping = tree.content else {
                    // It may still be being written.
                    throw ManifestFile.Failure(
                        message: "expected settings such as catalog.page: 20, or {} for none; found "
                            + (tree?.found ?? "an empty file"), line: tree?.line, column: tree?.column)
                }
                settingFiles.append(Field(node: tree, path: ""))
            } catch {
                fail("", error.line, error.column, error.message, in: number)
                if size.bytes > ManifestSize.mostBytes { return }
            }
        }
    }

    /// Takes the values of the files of `settings.d`. In each, those for the app come first.
    private func takeSettingFiles() {
        let rows = table.modules.map(\.name)
        for file in settingFiles {
            let entries = entries(file)
            add(entries.filter { $0.key != "modules" }, .file)
            for row in self.entries(entries.first { $0.key == "modules" }?.value, like: "{Catalog: \(Self.example)}") {
                if rows.contains(row.key) {
                    add(self.entries(row.value, like: Self.example), .file, of: row.key)
                } else {
                    fail(
                        key: row,
                        "expected a row of this manifest; found \(JSON.string(row.key))"
                            + ManifestReview.hint(row.key, rows))
                }
            }
        }
    }

    // MARK: the environment

    /// Takes the values of `STRATA_SET_…`, in the order of the variables' names.
    private func takeVariables(_ environment: [String: String], _ size: inout ManifestSize) {
        var names: [String: String] = [:]
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(Self.settingPrefix) {
            let place = SettingPlace(file: files[0], key: name)
            let key = Self.key(of: name)
            size.bytes += text.utf8.count
            if key.isEmpty {
                errors.append(place.problem("expected a setting's key after \(Self.settingPrefix); found none"))
            } else if size.bytes > ManifestSize.mostBytes {
                errors.append(place.problem("is larger than 1 MiB together with the files"))
            } else if let other = names.updateValue(name, forKey: key) {
                errors.append(place.problem("expected each setting once; \(other) sets \(key), too"))
            } else {
                let value = (try? JSON(parsing: text)) ?? .string(text)
                settings.append(.init(key: key, value: value, row: nil, layer: .environment, place: place))
            }
        }
    }

    /// Returns the key that a variable sets: two underscores stand for a dot, which few shells allow
    /// in a name.
    private static func key(of variable: String) -> String {
        var key = ""
        var rest = variable.dropFirst(settingPrefix.count)
        while let first = rest.first {
            let isDot = rest.hasPrefix("__")
            key.append(isDot ? "." : first)
            rest = rest.dropFirst(isDot ? 2 : 1)
        }
        return key
    }

    // MARK: the table

    /// Puts all layers into the table, when the rows are known.
    /// - Parameter readsSecrets: Whether the table gets the secrets.
    func mergeSettings(_ environment: [String: String], readsSecrets: Bool, _ size: inout ManifestSize) {
        takeSettingFiles()
        takeVariables(environment, &size)
        if let otherSettings {
            if let value = settings.first {
                fail(
                    otherSettings,
                    "expected a mapping such as \(Self.example), because \(value.place) sets \(value.key)")
            }
        } else {
            mergeValues()
        }
        takeSecrets(environment, reads: readsSecrets, &size)
    }

    private func mergeValues() {
        var rows: [String: Int] = [:]
        for (place, row) in table.modules.enumerated() { rows[row.name] = place }
        var places: [String: Int] = [:]
        var common: [JSON.Member] = []
        /// The last value of each key for the app, as a place in `settings`.
        var last: [String: Int] = [:]
        for (place, value) in settings.enumerated() where value.row == nil {
            last[value.key] = place
            if let known = places[value.key] {
                common[known].value = value.value
            } else {
                places[value.key] = common.count
                common.append(.init(value.key, value.value))
            }
        }
        table.settings = .object(common)
        var own: [String: Int] = [:]
        for (place, value) in settings.enumerated() {
            if let row = value.row, place > last[value.key] ?? -1 { own["\(row)/\(value.key)"] = place }
        }
        for place in own.values.sorted() {
            guard let row = settings[place].row.flatMap({ rows[$0] }) else { continue }
            table.modules[row].settings.append(.init(settings[place].key, settings[place].value))
        }
    }

    private func takeSecrets(_ environment: [String: String], reads: Bool, _ size: inout ManifestSize) {
        var plain: [String: SettingValue] = [:]
        for value in settings { plain[(value.row.map { "\($0)/" } ?? "/") + value.key] = value }
        let variables = Set(secrets.compactMap { if case .variable(let name) = $0.source { name } else { nil } })
        for (name, field) in keptVariables where variables.contains(name) {
            fail(field, "expected another variable; it holds a secret, and the launcher passes it to no module")
        }
        for source in secrets {
            if let value = plain["\(source.row)/\(source.key)"] ?? plain["/\(source.key)"] {
                errors.append(
                    value.place.problem("\(source.key) is a secret of \(source.row): leave this value out"))
            }
            guard reads, let place = table.modules.firstIndex(where: { $0.name == source.row }),
                table.nodes.isEmpty || table.node != nil && !table.modules[place].isAway(from: table.node)
            else { continue }
            do throws(SecretSource.Failure) {
                table.modules[place].secrets.append(try source.read(environment, &size))
                guard size.bytes <= ManifestSize.mostBytes else {
                    throw SecretSource.Failure(message: "is larger than 1 MiB together with the files before it")
                }
            } catch {
                errors.append(source.place.problem(error.message))
            }
        }
    }
}
