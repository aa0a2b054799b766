internal import StrataCore

/// A value of an interface, which callers read and observe. Its owner alone changes it, unless it is a
/// `SettableProperty`. It is written as a caseless enum inside its `Interface`, which lists it in
/// `members`:
///
///     /// The volume in percent.
///     public enum Volume: SettableProperty {
///         public static let name = property("volume")
///         public typealias Value = Int
///     }
///
/// On the bus it is an action that reads it, `Player/volume`, one that sets it, `Player/volume.set`, and
/// a retained broadcast, `Player.volume`.
public protocol Property: InterfaceMember {
    /// The type of the value. An owner's is `Equatable`, too.
    associatedtype Value: Codable & Sendable

    /// The property's name, written as `property("volume")` inside its `Interface`.
    static var name: PropertyName { get }
}

/// A property that callers set, too.
public protocol SettableProperty: Property {
    /// The errors of its own with which a set is answered, and what each means. None by default.
    static var errors: KeyValuePairs<String, String> { get }
}

extension SettableProperty {
    public static var errors: KeyValuePairs<String, String> { [:] }
}

// A property's own type has no values: `Value` has them.
extension Property {
    /// Throws: there are no values of this type.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "\(Self.self) has no values; its Value has."))
    }

    /// Throws: there are no values of this type.
    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            self, .init(codingPath: encoder.codingPath, debugDescription: "\(Self.self) has no values; its Value has."))
    }
}

/// The full name of a property: the name of its interface and its own.
public struct PropertyName: Sendable, CustomStringConvertible {
    /// The names that it has on the bus.
    let onBus: PropertyNames
    /// The interface; nil if only its name is known.
    let owner: (any Interface.Type)?

    /// Creates the name of a property. Contracts use `Interface.property(_:)` instead.
    public init(interface: String, property: String) { self.init(interface: interface, property: property, of: nil) }

    init(interface: String, property: String, of owner: (any Interface.Type)?) {
        onBus = PropertyNames(interface: interface, property: property)
        self.owner = owner
    }

    /// Splits `Interface/property`.
    init(splitting destination: String) {
        let name = ActionName(splitting: destination)
        self.init(interface: name.interface, property: name.action)
    }

    /// The interface's name, without a `Router` suffix.
    public var interface: String { onBus.interface }
    /// The property's own name.
    public var property: String { onBus.property }
    /// The name of the broadcast that tells its value: `Player.volume`.
    public var notice: String { onBus.notice }

    /// `Player/volume`
    public var description: String { onBus.get }
}

extension Interface {
    /// Returns the name of one of this interface's properties. Use it for `name` in the nested property.
    /// - Parameter property: As an action's name, at most 60 bytes, and without `.set` at its end.
    public static func property(_ property: String) -> PropertyName {
        PropertyName(interface: name, property: property, of: Self.self)
    }
}

/// The params of the action that sets a property.
struct PropertySetting<Value: Codable>: Codable {
    var value: Value
}
