/// A value that nobody is shown, such as a password in a module's settings.
///
/// It prints and reflects as `‹secret›`, and is written as that, so that it gets into no log by
/// mistake. Code that needs the value says `secret.value`.
public struct Secret<Value> {
    /// The value itself.
    public let value: Value

    public init(_ value: Value) { self.value = value }
}

extension Secret: Sendable where Value: Sendable {}
extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "‹secret›" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Decodable where Value: Decodable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension Secret: Encodable {
    /// Writes `‹secret›`, never the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
