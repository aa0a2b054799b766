extension AppTable {
    /// A secret that a row gives its module. No text shows its value.
    public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
        /// The setting's key.
        public var key: String
        public var value: String

        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }

        /// What stands in a secret's place wherever a value is shown.
        public static let hidden = "‹secret›"

        public var description: String { "\(key): \(Self.hidden)" }
        public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
    }
}

extension AppTable {
    /// Returns a table's JSON with `‹secret›` in place of each secret.
    public static func withoutSecrets(_ json: JSON) -> JSON {
        json.replacing("modules") { modules in
            .array(
                (modules.array ?? []).map { row in
                    row.replacing("secrets") { secrets in
                        .object((secrets.object ?? []).map { .init($0.name, .string(Secret.hidden)) })
                    }
                })
        }
    }
}

extension JSON {
    /// Returns an object with another value for a member, if it has that.
    fileprivate func replacing(_ name: String, _ value: (JSON) -> JSON) -> JSON {
        guard let members = object else { return self }
        return .object(members.map { $0.name == name ? .init(name, value($0.value)) : $0 })
    }
}

extension TableValue {
    /// Reads secrets. No error quotes a value.
    func secrets() throws(AppTableError) -> [AppTable.Secret] {
        guard let members = json.object else { throw AppTableError(path: path, message: "expected an object") }
        return try members.map { member throws(AppTableError) in
            guard let value = member.value.string else {
                throw AppTableError(path: "\(path).\(member.name)", message: "expected a string")
            }
            return AppTable.Secret(member.name, value)
        }
    }

    func members() throws(AppTableError) -> [JSON.Member] {
        guard let members = json.object else { throw expected("an object") }
        return members
    }
}
