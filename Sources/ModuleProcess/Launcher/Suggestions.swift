import StrataCore
import StrataOperator

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
