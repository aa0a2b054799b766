/// The names that a property has on the bus, all made of its interface's and its own: the action that
/// reads it, the one that sets it, and the broadcast that tells its value.
public struct PropertyNames: Sendable, Hashable {
    /// What follows a property's name in the name of the action that sets it.
    public static let suffix = ".set"

    /// The interface's name, without a `Router` suffix.
    public let interface: String
    /// The name of the property, and of the action that reads it: `volume`.
    public let property: String

    public init(interface: String, property: String) {
        self.interface = Name.withoutRouterSuffix(interface)
        self.property = property
    }

    /// Splits `Interface/property`. Nil unless both are such names.
    public init?(splitting text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, Name.isInterface(parts[0]), Name.isProperty(parts[1]) else { return nil }
        self.init(interface: parts[0], property: parts[1])
    }

    /// The name of the action that sets it: `volume.set`.
    public var setter: String { property + Self.suffix }
    /// What reads it: `Player/volume`.
    public var get: String { "\(interface)/\(property)" }
    /// What sets it: `Player/volume.set`.
    public var set: String { "\(interface)/\(setter)" }
    /// The name of the broadcast that tells its value: `Player.volume`.
    public var notice: String { "\(interface).\(property)" }
}

extension Name {
    /// Whether this can be a property's name: one of an action, of which the action that sets it can have
    /// its own, and which is no name of such an action itself.
    public static func isProperty(_ name: String) -> Bool {
        isAction(name + PropertyNames.suffix) && isAction(name) && !name.hasSuffix(PropertyNames.suffix)
    }
}
