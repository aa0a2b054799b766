public import StrataContracts
import StrataCore

/// A setting that a module declares.
public struct DeclaredSetting: Sendable, Equatable {
    public var key: String
    /// Whether its value is a secret, which no tool shows.
    public var isSecret: Bool
    /// Whether the module can't do without a value.
    public var isRequired: Bool
    /// The type, the default and what the author says; nil if the module doesn't describe its types.
    public var schema: Schema?

    public init(_ key: String, isSecret: Bool = false, isRequired: Bool = false, schema: Schema? = nil) {
        self.key = key
        self.isSecret = isSecret
        self.isRequired = isRequired
        self.schema = schema
    }

    init(_ property: Schema.Property) {
        self.init(
            property.name, isSecret: property.schema.isSecret, isRequired: property.isRequired,
            schema: property.schema)
    }

    /// Reads hello's `settings`: `["catalog.page", {"name": "session.key", "secret": true}]`.
    /// - Returns: nil for another form.
    init?(_ json: JSON) {
        guard let key = json.string ?? json["name"]?.string else { return nil }
        self.init(key, isSecret: json["secret"]?.bool == true)
    }

    /// Joins what hello declares with the types in the module's contract. A key counts as a secret
    /// if either says so.
    static func joined(_ keys: [DeclaredSetting]?, _ members: Schema.Members?) -> [DeclaredSetting]? {
        guard let members else { return keys }
        var all = members.properties.map(DeclaredSetting.init)
        var places = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.key, $0) })
        for key in keys ?? [] {
            if let place = places[key.key] {
                all[place].isSecret = all[place].isSecret || key.isSecret
            } else {
                places[key.key] = all.count
                all.append(key)
            }
        }
        return all
    }
}
