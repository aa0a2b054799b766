/// An action's full name: its interface's and its own.
public struct ActionName: Sendable, Hashable, CustomStringConvertible {
    /// The interface's name, without a suffix `Router`.
    public let interface: String
    /// The action's own name.
    public let action: String
    /// As it stands on the wire: `Player/play`.
    public let destination: String

    /// What `action(_:)` of a contract makes.
    public init(interface: String, action: String) {
        self.interface = interface
        self.action = action
        destination = "\(interface)/\(action)"
    }

    public var description: String { destination }
}
