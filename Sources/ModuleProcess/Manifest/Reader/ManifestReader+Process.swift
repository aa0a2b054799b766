import StrataCore

extension ManifestReader {
    /// Reads the launcher's part of a row, and the part that the broker needs, too.
    func process(
        _ members: [String: Field], _ process: inout ModuleProcess, _ row: inout AppTable.Row, group: Field?
    ) {
        run(members["run"], &process)
        if let path = text(members["folder"], "a folder's path", where: { !$0.isEmpty }) {
            process.folder = absolute(path)
        }
        env(members["env"], &process)
        keepEnv(members["keepEnv"], &process)
        if let field = members["user"] {
            process.user = text(field, "a user's name")
            row.user = user(field)
            if group == nil { fail(field, "expected the key group in the manifest beside a row's user; found none") }
        }
        process.start = members["run"] == nil ? .manual : .eager
        if let start = choice(members["start"], ManifestRules.start) { process.start = start }
        if let restart = choice(members["restart"], ManifestRules.restart) { process.restart = restart }
        if let replace = choice(members["replace"], ManifestRules.replace) { process.replace = replace }
        if let time = time(members["stop"]) { process.stop = time }
        process.idle = time(members["idle"], atLeast: 1)
        backoff(members["backoff"], &process.backoff)
        let limits = self.members(members["limits"], .processLimits)
        process.limits.memory = size(limits["memory"], ManifestRules.memory).map(UInt64.init)
        process.limits.files = integer(limits["files"], ManifestRules.files).map(UInt64.init)
        process.limits.processes = integer(limits["processes"], ManifestRules.processes).map(UInt64.init)
        (row.start, row.restart, row.replace) = (process.start, process.restart, process.replace)
        (row.stop, row.idle) = (process.stop, process.idle)
        row.backoffReset = process.backoff.reset
    }

    private func run(_ field: Field?, _ process: inout ModuleProcess) {
        guard let field else { return }
        process.run = elements(field).compactMap { text($0) }
        if case .sequence(let nodes) = field.node.content, nodes.isEmpty {
            expected("a program and its arguments", field)
        }
        guard let program = process.run.first else { return }
        if program.isEmpty { fail(field, "expected a program's path; found an empty one") }
        process.executable = absolute(program)
    }

    private func env(_ field: Field?, _ process: inout ModuleProcess) {
        for entry in entries(field, like: "{TZ: UTC}") {
            if !Self.isVariable(entry.key) {
                expected("a variable's name", key: entry)
            } else if Self.launchersOwn.contains(entry.key) {
                fail(key: entry, "expected another variable; the launcher itself sets this one")
            } else if let value = text(entry.value) {
                process.env[entry.key] = value
            }
        }
    }

    private func keepEnv(_ field: Field?, _ process: inout ModuleProcess) {
        guard let field else { return }
        process.keepEnv = elements(field).compactMap { element in
            guard let name = text(element, "a variable's name", where: Self.isVariable) else { return nil }
            if !ModuleProcess.isInherited(name) {
                fail(element, "expected another variable; the launcher passes this one to no module")
            }
            keptVariables.append((name, element))
            return name
        }
    }

    static func isVariable(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains(UInt8(ascii: "=")) && !name.utf8.contains(0)
    }

    private static let launchersOwn: Set<String> = [
        "STRATA_SOCKET", "STRATA_MODULE", "STRATA_TOKEN", "STRATA_ENV", "STRATA_LIFELINE", "STRATA_SPANS",
    ]

    private func backoff(_ field: Field?, _ backoff: inout ModuleProcess.Backoff) {
        guard let field else { return }
        let members = members(field, .backoff)
        if let time = time(members["first"]) { backoff.first = time }
        if let time = time(members["most"]) { backoff.most = time }
        if let time = time(members["reset"]) { backoff.reset = time }
        if backoff.first > backoff.most {
            fail(field, "expected first not longer than most; found \(backoff.first)ms and \(backoff.most)ms")
        }
    }

    /// Returns an absolute path; a relative one starts at the manifest's folder.
    func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        var rest = path[...]
        while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
        if rest.isEmpty || rest == "." { return folder }
        return folder == "/" ? "/\(rest)" : "\(folder)/\(rest)"
    }
}
