/// What the driver of a pipe does next.
public enum PipeAction: Equatable, Sendable {
    /// Publish a control message.
    case publishControl(ControlMessage)
    /// Publish a piece. `NodePipe.writePiece` writes its header and its bytes, and must be called before
    /// the next event.
    case publishPiece(PieceHeader, count: Int)
    /// Connect to the own broker in the other node's name; `brokerOpened` or `brokerClosed` must
    /// follow.
    case openBroker
    /// Write what still waits for the broker as far as its socket takes it, report the loss, close
    /// the connection or give up making it; `brokerClosed` must follow.
    case closeBroker(NodeLoss)
}
