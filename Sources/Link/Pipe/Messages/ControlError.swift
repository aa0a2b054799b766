/// Why a control message isn't taken.
public enum ControlError: Error, Equatable, Sendable {
    /// The other link is of another version, which is given.
    case version(Int64)
    /// It isn't a control message.
    case unreadable
}
