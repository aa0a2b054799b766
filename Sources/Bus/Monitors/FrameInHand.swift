import StrataCore

/// The request that is being handled, while somebody monitors: whether it
/// passes is known only later. Its bytes are the frame's.
struct FrameInHand {
    unowned(unsafe) let peer: Peer  // because who handles the frame holds it
    /// Of the frame, which is handled as long as this is there.
    let header: UnsafePointer<Header>
    let body: UnsafeRawBufferPointer
    /// The bus answers it itself: nothing else says that it passed.
    var isServed = false
    var isTold = false

    init(peer: Peer, header: UnsafePointer<Header>, body: UnsafeRawBufferPointer) {
        self.peer = peer
        self.header = header
        self.body = body
    }

    var name: Header.Text? { header.pointee.members.contains(.name) ? header.pointee.name : nil }
}
