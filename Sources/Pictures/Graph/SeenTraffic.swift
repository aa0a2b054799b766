public import StrataCore
public import StrataOperator

/// The traffic of a bus while it was watched: how often each module sent to another.
public struct SeenTraffic: Sendable {
    /// A kind and name of message, with its sender and receiver.
    struct Key: Hashable {
        var kind: AppGraph.Kind
        var from: String
        /// The receiving module's name.
        var to: String
        /// The interface, the URL's host and pattern, or the notification's name.
        var name: String
    }

    /// The most different keys that are counted; further ones only count as missed.
    public static let most = 16_384

    private(set) var counts: [Key: UInt64] = [:]
    /// The number of frames that the watcher didn't get, or that exceeded the limit of keys.
    public private(set) var missed: UInt64 = 0
    /// The ranks of the known modules.
    let ranks: [String: Int]
    private let owners: [String: String]
    /// The host and pattern of each mapped URL.
    private let urls: URLTable<String>

    /// - Parameters:
    ///   - levels: the answer of `bus/levels`.
    ///   - interfaces: the interfaces of the bus.
    public init(levels: JSON, interfaces: [InterfaceRow]) {
        var ranks: [String: Int] = [:]
        for (rank, level) in (levels["levels"]?.array ?? []).enumerated() {
            for module in level["modules"]?.array?.compactMap(\.string) ?? [] { ranks[module] = rank }
        }
        self.ranks = ranks
        owners = Dictionary(interfaces.map { ($0.name, $0.module) }) { $1 }
        urls = interfaces.urlTable
    }

    /// Counts a frame from `bus/monitor`. Refused frames, answers, and frames that don't go from
    /// one module to another are not counted.
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
            // The notice of a report goes up the table; the report itself was counted.
            guard let other = ranks[to], other > rank, let name = frame["name"]?.string else { return }
            count(.init(kind: .broadcast, from: from, to: to, name: name))
        default: break
        }
    }

    /// Returns the pattern that a URL matches. A URL that was mapped after the watching began gives
    /// only its host.
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
