/// The patterns of each host, and the value that each is mapped to.
///
/// The host `*` takes what no pattern of a URL's own host matches. The table knows nothing of
/// modules. The caller chooses the values, such as an owner and an action, and
/// decides who may map what. The mappings of other hosts never slow a URL down. A plain value; a
/// copy shares its patterns until either one changes.
public struct URLTable<Value> {
    /// The hosts by lower-case name; each has at least one mapping.
    var hosts: [String: URLHost<Value>] = [:]

    /// Makes an empty table.
    public init() {}

    /// The number of mapped patterns of all hosts.
    public var count: Int { hosts.values.reduce(0) { $0 + $1.count } }

    /// Maps a pattern for a host.
    ///
    /// - Throws: `bad-params` for a host that no URL can name; `name-taken` if the host already has
    ///   a pattern that differs only in the names of bound segments or of the rest; `overloaded` if
    ///   the host has too many shapes.
    public mutating func add(
        _ pattern: URLPattern, host: String, value: Value
    ) throws(BusURLError) {
        let host = try Self.judgedHost(host)
        if let taken = hosts[host]?.mapping(pattern.form) {
            throw BusURLError(
                .nameTaken,
                "the URL pattern \(excerpt(pattern.text)) was to be mapped for the host \(excerpt(host)), "
                    + "which has \(excerpt(taken.pattern.text)) already; patterns that differ only in the names of "
                    + "bound segments or of the rest are the same: map another path or host")
        }
        if firstBeyondLimit(of: [(host, pattern)]) != nil { throw Self.tooManyShapes(host, pattern) }
        _ = hosts[host, default: URLHost()].set(.init(pattern: pattern, value: value))
    }

    /// Maps a pattern for a host and returns the value that it replaces. The replaced pattern may
    /// differ in its bound names. There is no limit on shapes here.
    ///
    /// - Throws: `bad-params` for a host that no URL can name.
    @discardableResult
    public mutating func replace(
        _ pattern: URLPattern, host: String, value: Value
    ) throws(BusURLError) -> Value? {
        let host = try Self.judgedHost(host)
        return hosts[host, default: URLHost()].set(.init(pattern: pattern, value: value))?.value
    }

    /// Returns the value of a pattern, whatever the names of its bound segments.
    public func value(of pattern: URLPattern, host: String) -> Value? {
        hosts[Self.lowercase(host)]?.mapping(pattern.form)?.value
    }

    /// Removes a pattern, whatever the names of its bound segments, and returns its value.
    @discardableResult
    public mutating func remove(_ pattern: URLPattern, host: String) -> Value? {
        let host = Self.lowercase(host)
        guard let index = hosts.index(forKey: host),
            let removed = hosts.values[index].remove(pattern.form)
        else { return nil }
        if hosts.values[index].count == 0 { hosts.remove(at: index) }
        return removed.value
    }

    /// Removes every mapping for whose value `judge` returns true, by looking at all of them. A
    /// caller which keeps a list of its mappings should `remove` each instead.
    public mutating func removeAll(where judge: (Value) -> Bool) {
        var doomed: [(String, URLPattern)] = []
        forEach { if judge($2) { doomed.append(($0, $1)) } }
        for (host, pattern) in doomed { remove(pattern, host: host) }
    }

    /// Calls the body with each host, pattern and value, in no particular order.
    public func forEach(_ body: (_ host: String, _ pattern: URLPattern, _ value: Value) -> Void) {
        for (name, host) in hosts {
            host.forEach { body(name, $0.pattern, $0.value) }
        }
    }

    /// Returns what a URL leads to.
    ///
    /// The cost is one pass over the URL, plus a look-up for each shape of the host's patterns that
    /// has as many segments or ends in a rest, and the same again for the host `*`.
    ///
    /// - Parameter schemes: the app's schemes, in upper or lower case.
    /// - Throws: the first of `bad-url`, `unknown-scheme`, `unknown-host`, `unknown-path` that
    ///   applies.
    public func resolve(
        _ url: UnsafeRawBufferPointer, schemes: [String]
    ) throws(BusURLError) -> URLMatch<Value> {
        try resolve(try BusURL(url), schemes: schemes)
    }

    /// Returns what an already validated URL leads to.
    public func resolve(
        _ url: BusURL, schemes: [String]
    ) throws(BusURLError) -> URLMatch<Value> {
        guard schemes.contains(where: { Self.lowercase($0) == url.scheme }) else {
            throw unknownScheme(url, schemes)
        }
        guard let found = find(url).mapping else {
            let name = hosts[url.host] == nil ? Self.anyHost : url.host
            guard let host = hosts[name] else { throw unknownHost(url) }
            throw unknownPath(url, name, host)
        }
        return URLMatch(value: found.value, pattern: found.pattern, url: url)
    }

    /// Looks a URL up at its own host, and then at the host `*`.
    func find(_ url: BusURL) -> (mapping: URLHost<Value>.Mapping?, lookUps: Int) {
        let own = hosts[url.host]?.match(url.segments) ?? (mapping: nil, lookUps: 0)
        guard own.mapping == nil, url.host != Self.anyHost, let any = hosts[Self.anyHost] else { return own }
        let found = any.match(url.segments)
        return (found.mapping, own.lookUps + found.lookUps)
    }
}

extension URLTable: Sendable where Value: Sendable {}

// Hosts.
extension URLTable {
    /// The host that takes the URLs of any host which nothing else took.
    public static var anyHost: String { "*" }

    /// Whether a URL can name this host and patterns can be mapped for it: up to 255 bytes of RFC
    /// 3986's `reg-name`, without escapes.
    public static func isHost(_ host: String) -> Bool {
        let marks = "-._~!$&'()*+,;=".utf8
        return !host.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { Name.isLetter($0) || Name.isDigit($0) || marks.contains($0) }
    }

    private static func judgedHost(_ host: String) throws(BusURLError) -> String {
        guard isHost(host) else {
            throw BusURLError(
                .badParams,
                "the host \(BusURLError.excerpt(host.utf8)) was to be mapped, which no URL can name; write 1 to 255 "
                    + "letters, digits, \".\" and \"-\", like com.example.login")
        }
        return lowercase(host)
    }

    /// Returns the text with ASCII letters in lower case.
    private static func lowercase(_ text: String) -> String {
        let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        guard text.utf8.contains(where: upper.contains) else { return text }
        return String(decoding: text.utf8.lazy.map { upper.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

// Messages.
extension URLTable {
    /// With more hosts than this, the error suggests no similar name, which would take too long.
    private static var mostCompared: Int { 1_024 }

    private func excerpt(_ text: String) -> String { BusURLError.excerpt(text.utf8) }

    private func unknownScheme(_ url: BusURL, _ schemes: [String]) -> BusURLError {
        let known = schemes.prefix(3).map(excerpt).joined(separator: ", ")
        return BusURLError(
            .unknownScheme,
            "a URL of the scheme \(excerpt(url.scheme)) was asked for; "
                + (schemes.isEmpty
                    ? "the app has none" : "the app has \(known)\(schemes.count > 3 ? " and more" : "")")
                + ": list it in the manifest's schemes, or if it is another app's, in opens of the row that opens it, "
                + "like opens: {catalog: {app: catalog}}")
    }

    private func unknownHost(_ url: BusURL) -> BusURLError {
        // Sorted, because the order in a dictionary differs from process to process.
        let names = hosts.count > Self.mostCompared ? [] : hosts.keys.sorted()
        let near = nearestNames(to: url.host, in: names).map(excerpt)
        return BusURLError(
            .unknownHost,
            "a URL of the host \(excerpt(url.host)) was asked for, for which nothing is mapped; "
                + (near.isEmpty
                    ? "see strata routes for what is"
                    : "did you mean \(near.joined(separator: " or "))?"))
    }

    /// - Parameters:
    ///   - name: the host whose patterns the message lists: the URL's own, or `*`.
    private func unknownPath(_ url: BusURL, _ name: String, _ host: URLHost<Value>) -> BusURLError {
        var path: [UInt8] = url.segments.isEmpty ? [UInt8(ascii: "/")] : []
        for segment in url.segments.prefix(16) { path += [UInt8(ascii: "/")] + segment.bytes }
        // Patterns may be long, and a peer may ask often, so with many patterns none is listed.
        var known: [String] = []
        if host.count <= 16 { host.forEach { known.append($0.pattern.text) } }
        known.sort()
        return BusURLError(
            .unknownPath,
            "the path \(BusURLError.excerpt(path)) was asked for, which is not mapped for the host "
                + "\(excerpt(url.host))\(name == url.host ? "" : " nor for \(excerpt(name))"); "
                + (known.isEmpty
                    ? "see strata routes for its \(host.count) patterns"
                    : "it has \(known.prefix(3).map(excerpt).joined(separator: ", "))"
                        + (known.count > 3 ? " and \(known.count - 3) more" : "")))
    }
}
