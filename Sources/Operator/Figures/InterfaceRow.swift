public import StrataCore

/// An interface, from `bus/interfaces`.
public struct InterfaceRow: Sendable {
    /// An action of the interface.
    public struct Action: Sendable {
        /// The action's name, without the interface's.
        public let name: String
        /// Whether it runs only if the app's authorizer allows it.
        public let needsAuthorization: Bool
        /// Whether it answers in parts, as its module says.
        public let isStream: Bool
    }

    /// A URL that leads to an action of the interface.
    public struct URL: Sendable {
        /// The host and the path's pattern, without a scheme.
        public let address: String
        /// `Interface/action`.
        public let to: String
        fileprivate let host: String
    }

    /// The JSON from the bus.
    public let json: JSON
    /// The interface's name.
    public let name: String
    /// The module that owns the interface.
    public let module: String
    /// The version of its contract; nil if no module is live that says one.
    public let version: ContractVersion?
    /// The actions; empty if the interface lists none and accepts any.
    public let actions: [Action]
    /// The URLs, by host and path.
    public let urls: [URL]

    public init(_ json: JSON) {
        self.json = json
        name = json["name"]?.string ?? "?"
        module = json["module"]?.string ?? ""
        version = json["version"]?.string.flatMap { ContractVersion($0) }
        actions = (json["actions"]?.array ?? []).map {
            Action(
                name: $0["name"]?.string ?? "?", needsAuthorization: $0["auth"]?.bool == true,
                isStream: $0["stream"]?.bool == true)
        }
        urls = (json["urls"]?.array ?? []).map { url in
            let host = url["host"]?.string ?? ""
            return URL(address: host + (url["path"]?.string ?? ""), to: url["to"]?.string ?? "", host: host)
        }
    }

    /// Whether an instance is created for each user.
    public var hasInstances: Bool { json["instances"]?.string == "multiple" }
    /// The modules that require it.
    public var requiredBy: [String] { json["requiredBy"]?.array?.compactMap(\.string) ?? [] }
}

extension [InterfaceRow] {
    /// Reads the interfaces from the answer of `bus/interfaces`.
    public init(_ answer: JSON) { self = (answer["interfaces"]?.array ?? []).map(InterfaceRow.init) }

    /// The bus's URL mappings, from each pattern to its address. Invalid mappings are left out.
    package var urlTable: URLTable<String> {
        var table = URLTable<String>()
        for url in flatMap(\.urls) {
            guard let pattern = try? URLPattern(String(url.address.dropFirst(url.host.count))) else { continue }
            try? table.add(pattern, host: url.host, value: url.address)
        }
        return table
    }
}
