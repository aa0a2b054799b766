/// What a link does about its fence.
public enum FenceAction: Equatable, Sendable {
    /// Publish a message to this node in another node's name, which a server that guards the names refuses.
    case publishProbe(ControlMessage)
    /// Publish a message to this node in its own name.
    case publishClaim(ControlMessage)
    /// The carrier may be used.
    case open
    /// The link must end.
    case refuse(Refusal)

    public enum Refusal: Sendable {
        /// The server lets anybody publish in any node's name.
        case unguarded
        /// Another process has this node's name.
        case nameTaken
    }
}
