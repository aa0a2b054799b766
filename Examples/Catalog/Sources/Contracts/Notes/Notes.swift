public import StorageInterface
public import Strata

/// Notes about packages.
public enum Notes: Interface {
    public static let name = "Notes"
    public static let version: ContractVersion? = "1.0"
    public static let members: [any InterfaceMember.Type] = [Begin.self, Add.self, List.self]

    /// Asks for somebody to sign in, and gives the token that they will have: with
    /// it `add` waits for them.
    public struct Begin: Action {
        public static let name = action("begin")

        public struct Reply: Codable, Sendable {
            public var token: String

            public init(token: String) { self.token = token }
        }

        public init() {}
    }

    /// Adds a note, for somebody who has signed in.
    public struct Add: Action {
        public static let name = action("add")
        public static let errors: KeyValuePairs<String, String> = [
            "Notes.no-such-item": "No package has this name.",
            "Notes.empty-text": "The note has no text.",
            "Notes.too-long": "The text is longer than the setting notes.longest allows.",
        ]
        public typealias Reply = Note
        /// The package's name.
        public var item: String
        public var text: String
        /// What the writer got at the sign-in, or before it from `begin`.
        public var token: String

        public init(item: String, text: String, token: String) {
            self.item = item
            self.text = text
            self.token = token
        }
    }

    /// The newest notes, the oldest of them first: about a package, also one that
    /// was removed since, or about all of them.
    public struct List: Action {
        public static let name = action("list")
        public typealias Reply = [Note]
        /// The package's name; without it, all.
        public var item: String?

        public init(item: String? = nil) { self.item = item }
    }
}
