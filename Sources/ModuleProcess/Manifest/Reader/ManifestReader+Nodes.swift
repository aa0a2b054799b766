import StrataCore

extension ManifestReader {
    private static let nodeRule = "a node's name ([a-z0-9][a-z0-9-]{0,31}, not all)"

    /// Reads the app's nodes. Those of invalid names count as nodes, so that a row on one of them
    /// has no second error.
    func nodes(_ field: Field?) {
        guard let field else { return }
        var federation = Federation()
        let entries = entries(field, like: "{berlin: {operates: true}, tokyo: }")
        for entry in entries {
            if !Name.isNode(entry.key) { expected(Self.nodeRule, key: entry) }
            let members = entry.value.node.isNull ? [:] : members(entry.value, .node)
            table.nodes.append(.init(entry.key, operates: bool(members["operates"]) ?? false))
            federation.ownFiles[entry.key] = files(members)
        }
        if case .mapping = field.node.content, !ManifestRules.nodes.contains(entries.count) {
            fail(field, "expected 1 to \(ManifestRules.nodes.upperBound) nodes; found \(entries.count)")
        }
        self.federation = federation
        table.join = federation.join
    }

    /// Reads where a row's module runs: a node, a list of nodes, or `all`.
    func placement(_ field: Field?, of row: Field.Entry) -> AppTable.Placement {
        guard federation != nil else {
            if let field { fail(field, "expected the key nodes in the manifest beside a row's node; found none") }
            return .here
        }
        let names = table.nodes.map(\.name)
        guard let field else {
            fail(key: row, "expected the key node, because the app has nodes: \(Self.placeRule(names)); found none")
            return .everywhere
        }
        if case .sequence(let nodes) = field.node.content {
            if nodes.isEmpty { expected("at least one node", field) }
            return .on(unique(elements(field).compactMap { node($0, names, Self.oneOf(names)) }).map(\.name))
        }
        if case .scalar(AppTable.Placement.all, _) = field.node.content { return .everywhere }
        return .on(node(field, names, Self.placeRule(names)).map { [$0.name] } ?? [])
    }

    private static func placeRule(_ names: [String]) -> String {
        "\(names.joined(separator: ", ")), a list of them, or \(AppTable.Placement.all)"
    }

    private func node(_ field: Field, _ names: [String], _ rule: String) -> (name: String, field: Field)? {
        if case .scalar(let name, _) = field.node.content, names.contains(name) { return (name, field) }
        expected(rule, field, among: names)
        return nil
    }

    /// Reads how the nodes reach each other.
    func federation(_ field: Field?, group: Field?) {
        guard let field else { return }
        let members = members(field, .federation)
        guard var federation else {
            return fail(field, "expected the key nodes beside federation; found none")
        }
        federation.servers = servers(members["servers"])
        federation.files = files(members)
        if let window = size(members["window"], ManifestRules.window) { federation.window = window }
        if let lost = time(members["lost"], 2_000...60_000, "2s to 60s") { federation.lost = lost }
        if let join = time(members["join"], 0...600_000, "0s to 10m") { federation.join = join }
        if let unguarded = bool(members["unguarded"]) { federation.unguarded = unguarded }
        if let user = members["user"] {
            federation.user = self.user(user)
            if group == nil {
                fail(user, "expected the key group in the manifest beside the link's user; found none")
            }
        }
        self.federation = federation
        table.join = federation.join
    }

    private func files(_ members: [String: Field]) -> Federation.Files {
        func path(_ key: String) -> String? {
            text(members[key], "a file's path", where: { !$0.isEmpty }).map(absolute)
        }
        return .init(key: path("key"), ca: path("ca"))
    }

    // MARK: servers

    private func servers(_ field: Field?) -> [String] {
        guard let field else { return [] }
        let servers = elements(field).compactMap { element -> (name: String, field: Field)? in
            let rule = "a server such as tls://n1.example:4222, without a user and a path"
            guard let text = text(element, rule, where: { NATSServer($0) != nil }) else { return nil }
            if NATSServer(text)?.isOpen == true {
                fail(element, "expected tls:// for a server that isn't on this machine; found \(JSON.string(text))")
            }
            return (text, element)
        }
        if case .sequence(let nodes) = field.node.content, !ManifestRules.servers.contains(nodes.count) {
            fail(field, "expected 1 to \(ManifestRules.servers.upperBound) servers; found \(nodes.count)")
        }
        return unique(servers).map(\.name)
    }
}

/// The parts of a NATS server's URL that matter here.
private struct NATSServer {
    /// Whether strangers could read what is sent: it is neither encrypted nor on this machine.
    let isOpen: Bool

    /// Nil unless the text is `tls://HOST` or `nats://HOST`, perhaps with a port. A user would be a
    /// secret in the manifest.
    init?(_ text: String) {
        guard text.utf8.count <= 256, let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound]
        guard scheme == "tls" || scheme == "nats" else { return nil }
        var host = text[mark.upperBound...]
        // The colons in brackets are an IPv6 address's.
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            let port = host[host.index(after: colon)...]
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port), number > 0
            else { return nil }
            host = host[..<colon]
        }
        let isAddress = host.first == "[" && host.last == "]" && host.utf8.count > 2
        let name = isAddress ? host.dropFirst().dropLast() : host
        let marks = isAddress ? ":." : "-."
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || marks.contains($0)) })
        else { return nil }
        let isLocal = host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
        isOpen = scheme == "nats" && !isLocal
    }
}
