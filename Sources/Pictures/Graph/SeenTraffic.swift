public import StrataCore
public import StrataOperator

/// What passed on a bus while it was watched: who spoke to whom, how often.
public struct SeenTraffic: Sendable {
    /// Who spoke to whom.
    struct Key: Hashable {
        var kind: AppGraph.Kind
        var from: String
        /// A module's name.
        var to: String
        /// The interface, the URL's host and pattern, or the notification's name.
        var name: String
    }

    /// So many different ones are kept; of further ones only that there were.
    public static let most = 16_384

    private(set) var counts: [Key: UInt64] = [:]
    /// Frames that the watcher didn't get, or that were too many to keep apart.
    public private(set) var missed: UInt64 = 0
    /// Ranks of the modules that were there.
    let ranks: [String: Int]
    private let owners: [String: String]
    /// Host and pattern of each URL that is mapped.
    private let urls: URLTable<String>

    /// - Parameters:
    ///   - levels: the answer of `bus/levels`.
    ///   - interfaces: those of the bus.
    public init(levels: JSON, interfaces: [InterfaceRow]) {
        var ranks: [String: Int] = [:]
        for (rank, level) in (levels["levels"]?.array ?? []).enumerated() {
            for module in level["modules"]?.array?.compactMap(\.string) ?? [] { ranks[module] = rank }
        }
        self.ranks = ranks
        owners = Dictionary(interfaces.map { ($0.name, $0.module) }) { $1 }
        urls = interfaces.urlTable
    }

    /// Counts a frame, as `bus/monitor` tells of it. What was refused, what goes
    /// to or comes from no module, and answers aren't counted.
    public mutating func note(_ frame: JSON) {
        if let missed = frame["missed"]?.integer { self.missed += UInt64(clamping: missed) }
        guard frame["code"] == nil, let from = frame["from"]?.string, let rank = ranks[from],
            let to = frame["to"]?.string
        else { return }
        switch frame["kind"]?.string {
        case "call" where frame["url"] != nil:
            guard let owner = frame["callee"]?.string, ranks[owner] != nil, let url = frame["url"]?.string else {
                return
            }
            count(.init(kind: .open, from: from, to: owner, name: pattern(of: url)))
        case "call":
            let interface = String(to.prefix { $0 != "/" && $0 != "#" })
            guard let owner = owners[interface], ranks[owner] != nil else { return }
            count(.init(kind: .call, from: from, to: owner, name: interface))
        case "report":
            guard ranks[to] != nil, let name = frame["name"]?.string else { return }
            count(.init(kind: .report, from: from, to: to, name: name))
        case "notice":
            // That of a report goes the other way, and the report was counted.
            guard let other = ranks[to], other > rank, let name = frame["name"]?.string else { return }
            count(.init(kind: .broadcast, from: from, to: to, name: name))
        default: break
        }
    }

    /// Its host alone where it was mapped after the watching began.
    private func pattern(of url: String) -> String {
        guard let url = try? BusURL(url) else { return "?" }
        return (try? urls.resolve(url, schemes: [url.scheme]).value) ?? url.host
    }

    private mutating func count(_ key: Key) {
        if counts[key] == nil, counts.count >= Self.most {
            missed += 1
        } else {
            counts[key, default: 0] += 1
        }
    }
}
