import StrataCore

/// The request that is being handled, while somebody monitors: whether it
/// passes is known only later. Its bytes are the frame's.
struct FrameInHand {
    unowned(unsafe) let peer: Peer  // because who handles the frame holds it
    let header: Header
    let body: UnsafeRawBufferPointer
    /// The broker answers it itself: nothing else says that it passed.
    var isServed = false
    var isTold = false
}
