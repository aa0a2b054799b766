/// An action's full name: its interface's and its own.
public struct ActionName: Sendable, Hashable, CustomStringConvertible {
    public let interface: String
    public let action: String
    /// As it stands on the wire: `Player/play`.
    public let destination: String

    public init(interface: String, action: String) {
        self.interface = interface
        self.action = action
        destination = "\(interface)/\(action)"
    }

    public var description: String { destination }
}
