import StrataCore

/// A frame that came with descriptors, on its way to one receiver.
struct DescribedFrame {
    private let descriptors: FrameDescriptors
    /// Whether the receiver gets the file that holds the body.
    private let passesFile: Bool
    /// The bytes that the frame itself carries.
    let body: UnsafeRawBufferPointer

    /// - Parameter body: the body's bytes, wherever they are.
    init(_ descriptors: FrameDescriptors, _ body: UnsafeRawBufferPointer, to peer: Peer) {
        self.descriptors = descriptors
        passesFile = descriptors.bodyCount > 0 && peer.takes(.bodies)
        self.body = passesFile ? .none : body
    }

    /// Whether what came is the frame's body, and no descriptors of the application.
    var isBody: Bool { descriptors.bodyCount > 0 }

    /// Writes the header's last member.
    func write(to writer: inout HeaderWriter) {
        if passesFile {
            writer.integer("memory", UInt64(descriptors.bodyCount))
        } else if !isBody {
            writer.integer("descriptors", UInt64(descriptors.numbers.count))
        }
    }

    /// Returns the payload of the frame. A large body is borrowed, or stays in its file.
    func payload(_ reclaimer: Reclaimer) -> Payload {
        if !passesFile, let file = descriptors.body { return Payload(file.bytes, in: file, reclaimer) }
        let payload =
            body.count < Outbox.largeBody ? Payload(copying: body, reclaimer) : Payload(borrowing: body, reclaimer)
        payload.descriptors = descriptors
        return payload
    }
}

extension Peer {
    /// Whether its hello says that it takes such descriptors.
    final func takes(_ term: PeerDescriptors.Terms) -> Bool { descriptors?.terms.contains(term) == true }
}
