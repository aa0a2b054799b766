import StrataCore

/// Three commands that someone who sees an app for the first time can try.
enum Suggestions {
    /// - Parameter interfaces: `bus/interfaces`' answer, where there was one.
    static func commands(_ table: AppTable, interfaces: JSON?) -> [String] {
        var commands: [String] = []
        if let call = call(interfaces) { commands.append("strata call \(call)") }
        if let url = url(table, interfaces) { commands.append("strata open '\(url)'") }
        for command in ["strata ps", "strata routes", "strata levels"] where commands.count < 3 {
            commands.append(command)
        }
        return commands
    }

    /// An action that anyone may call and that likely only reads.
    private static func call(_ interfaces: JSON?) -> String? {
        let reading = ["list", "status", "get", "all", "show", "read", "count", "info", "search", "find"]
        var best: (rank: Int, text: String)?
        // What stands last in the table is nearest to a user.
        for interface in (interfaces?.array ?? []).reversed() {
            guard let name = interface["name"]?.string, interface["instances"]?.string != "multiple" else { continue }
            for action in actions(interface["actions"]) where !action.needsAuthorization {
                let rank = reading.firstIndex(of: action.name) ?? reading.count
                if best.map({ rank < $0.rank }) ?? true { best = (rank, "\(name)/\(action.name)") }
            }
        }
        return best?.text
    }

    private static func actions(_ json: JSON?) -> [(name: String, needsAuthorization: Bool)] {
        if let members = json?.object { return members.map { ($0.name, $0.value["auth"]?.bool ?? false) } }
        return (json?.array ?? []).compactMap { entry in
            if let name = entry.string { return (name, false) }
            return entry["name"]?.string.map { ($0, entry["auth"]?.bool ?? false) }
        }
    }

    /// A URL of the app's, one without a part to fill in where there is one.
    private static func url(_ table: AppTable, _ interfaces: JSON?) -> String? {
        guard let scheme = table.schemes.first else { return nil }
        var urls = table.modules.flatMap { row in row.urls.map { $0.host + $0.path } }
        for interface in interfaces?.array ?? [] {
            for url in interface["urls"]?.array ?? [] {
                if let text = url.string { urls.append(text) }
                if let host = url["host"]?.string, let path = url["path"]?.string { urls.append(host + path) }
            }
        }
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
