/// Another app on this machine: where its broker listens, and as which user.
public struct OtherApp: Sendable, Hashable {
    /// Where the broker listens.
    public enum Place: Sendable, Hashable {
        /// At one of the default paths of the app with this name.
        case name(String)
        /// At this path, absolute and in printable ASCII.
        case socket(String)
    }

    public var place: Place
    /// The user that the broker must run as; nil for the user of this app's broker.
    public var user: UInt32?

    public init(_ place: Place, user: UInt32? = nil) {
        self.place = place
        self.user = user
    }

    /// The app as `from` and messages name it. No module's name has a colon.
    public var text: String {
        switch place {
        case .name(let name): "app:\(name)"
        case .socket(let path): "app:\(path)"
        }
    }

    /// Whether a path can be a target: absolute, of at most 107 bytes, all of them printable ASCII
    /// that needs no escapes.
    public static func isSocket(_ path: String) -> Bool {
        path.utf8.first == UInt8(ascii: "/") && path.utf8.count <= 107
            && path.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }
}

extension AppTable {
    /// A scheme of another app, whose URLs a row's module may open.
    public struct Opened: Sendable, Equatable {
        /// In lower case.
        public var scheme: String
        public var app: OtherApp
        public init(scheme: String, app: OtherApp) {
            self.scheme = scheme
            self.app = app
        }
    }

    /// Who may open the app's public URLs from other apps.
    public struct OpenableBy: Sendable, Equatable {
        /// The users whose brokers may.
        public var users: [UInt32]
        /// The rank of the level that their requests have.
        public var rank: Int
        public init(users: [UInt32], rank: Int) {
            self.users = users
            self.rank = rank
        }
    }

    /// The other apps that rows name, each once.
    public var otherApps: Set<OtherApp> { Set(modules.lazy.flatMap(\.opens).map(\.app)) }
}

extension AppTable.Opened {
    func json() -> JSON {
        var members: [JSON.Member] = [.init("scheme", .string(scheme))]
        switch app.place {
        case .name(let name): members.append(.init("app", .string(name)))
        case .socket(let path): members.append(.init("socket", .string(path)))
        }
        if let user = app.user { members.append(.init("user", .count(user))) }
        return .object(members)
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["scheme", "app", "socket", "user"])
        let place: OtherApp.Place
        if let path = value.member("socket") {
            place = .socket(try path.string())
        } else {
            place = .name(try value.required("app").string())
        }
        self.init(scheme: try value.required("scheme").string(), app: OtherApp(place))
        try value.read("user", into: &app.user) { (v) throws(AppTableError) in try v.integer() }
    }
}
