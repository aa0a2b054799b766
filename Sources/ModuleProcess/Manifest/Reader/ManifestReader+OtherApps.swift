import StrataCore

extension ManifestReader {
    /// Reads the schemes of other apps that a row's module may open. One scheme leads to one app, in
    /// whichever rows it is.
    func opens(_ field: Field?, of row: AppTable.Row) -> [AppTable.Opened] {
        entries(field, like: "{catalog: {app: catalog}}").compactMap { entry in
            guard Self.isScheme(entry.key) else {
                expected(Self.schemeRule, key: entry)
                return nil
            }
            let scheme = entry.key.lowercased()
            guard let app = otherApp(entry.value) else { return nil }
            if table.schemes.contains(scheme) {
                fail(key: entry, "expected another app's scheme; \(scheme) is in this app's schemes")
                return nil
            }
            let known = otherSchemes[scheme] ?? (app, row.name)
            guard known.app == app else {
                fail(key: entry, "expected one app for a scheme; \(known.row) opens \(scheme) at \(known.app.text)")
                return nil
            }
            otherSchemes[scheme] = known
            return AppTable.Opened(scheme: scheme, app: app)
        }
    }

    /// Reads `{app: NAME, user: NAME}` or `{socket: PATH, user: NAME}`.
    private func otherApp(_ field: Field) -> OtherApp? {
        let members = members(field, .otherApp)
        let user = user(members["user"])
        if members["user"] != nil, user == nil { return nil }
        switch (members["app"], members["socket"]) {
        case (let name?, nil):
            let rule = "1 to 32 of a-z, 0-9 and -, perhaps with a node as in catalog@tokyo"
            guard let app = text(name, rule, where: Name.isSocket) else { return nil }
            guard app.prefix(while: { $0 != "@" }) != table.app || user != nil else {
                fail(name, "expected another app; \(app) is this one: list the scheme in schemes")
                return nil
            }
            return OtherApp(.name(app), user: user)
        case (nil, let socket?):
            let rule = "an absolute path of at most 107 bytes, in printable ASCII without quotes and backslashes"
            return text(socket, rule, where: OtherApp.isSocket).map { OtherApp(.socket($0), user: user) }
        default:
            if case .mapping = field.node.content { fail(field, "expected one of the keys app and socket") }
            return nil
        }
    }
}
