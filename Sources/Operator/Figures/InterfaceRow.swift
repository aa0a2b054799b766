public import StrataCore

/// An interface as `bus/interfaces` tells of it.
public struct InterfaceRow: Sendable {
    /// One of its actions.
    public struct Action: Sendable {
        /// Without the interface's name.
        public let name: String
        /// Whether it runs only where the app's authorizer allows it.
        public let needsAuthorization: Bool
    }

    /// A URL that leads to one of its actions.
    public struct URL: Sendable {
        /// The host and the path's pattern, without a scheme.
        public let address: String
        /// `Interface/action`.
        public let to: String
        fileprivate let host: String
    }

    /// As the bus told it.
    public let json: JSON
    /// The interface's name.
    public let name: String
    /// The module whose it is.
    public let module: String
    /// Empty where it lists none: then it takes any.
    public let actions: [Action]
    /// The URLs, by host and path.
    public let urls: [URL]

    public init(_ json: JSON) {
        self.json = json
        name = json["name"]?.string ?? "?"
        module = json["module"]?.string ?? ""
        actions = (json["actions"]?.array ?? []).map {
            Action(name: $0["name"]?.string ?? "?", needsAuthorization: $0["auth"]?.bool == true)
        }
        urls = (json["urls"]?.array ?? []).map { url in
            let host = url["host"]?.string ?? ""
            return URL(address: host + (url["path"]?.string ?? ""), to: url["to"]?.string ?? "", host: host)
        }
    }

    /// Whether it is created for each user.
    public var hasInstances: Bool { json["instances"]?.string == "multiple" }
    /// The modules that require it.
    public var requiredBy: [String] { json["requiredBy"]?.array?.compactMap(\.string) ?? [] }
}

extension [InterfaceRow] {
    /// The interfaces that the answer of `bus/interfaces` has.
    public init(_ answer: JSON) { self = (answer["interfaces"]?.array ?? []).map(InterfaceRow.init) }

    /// What their bus has mapped: to each pattern its address. What can't be a mapping is left out.
    package var urlTable: URLTable<String> {
        var table = URLTable<String>()
        for url in flatMap(\.urls) {
            guard let pattern = try? URLPattern(String(url.address.dropFirst(url.host.count))) else { continue }
            try? table.add(pattern, host: url.host, value: url.address)
        }
        return table
    }
}
