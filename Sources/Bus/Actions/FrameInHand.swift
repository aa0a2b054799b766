import StrataCore

/// The request that is being handled, while somebody monitors: whether it
/// passes is known only later. Its bytes are the frame's.
struct FrameInHand {
    unowned(unsafe) let peer: Peer  // because who handles the frame holds it
    let kind: Header.Kind
    /// The kind as it was written, where it is none of the known ones.
    let unknownKind: Header.Text
    let id: UInt64
    let to: Header.Text
    let url: Header.Text
    let name: Header.Text?
    let body: UnsafeRawBufferPointer
    /// The broker answers it itself: nothing else says that it passed.
    var isServed = false
    var isTold = false

    init(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) {
        self.peer = peer
        self.body = body
        kind = header.kind
        unknownKind = header.unknownKind
        id = header.id
        to = header.to
        url = header.url
        name = header.members.contains(.name) ? header.name : nil
    }
}
