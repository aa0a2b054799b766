@testable import StrataPipe

/// A node of the simulation: its link, and the connection to its broker.
final class SimulatedNode {
    let name: String
    var pipe: NodePipe
    /// Whether the link has asked for a connection that the broker hasn't made yet.
    var isOpening = false
    var isConnected = false
    /// How many bytes this broker has written and read in the session.
    var written: UInt64 = 0
    var read: UInt64 = 0

    init(_ settings: PipeSettings, at now: UInt64) {
        name = settings.me
        pipe = NodePipe(settings, at: now)
    }

    var figures: PipeFigures { pipe.figures }

    /// The stream that the node's broker writes in a session.
    static func stream(of name: String, session: UInt64) -> KnownStream {
        KnownStream(key: session &* 40_503 &+ (name == "berlin" ? 0 : 977))
    }
}
