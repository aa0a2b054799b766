import StrataCore

/// A frame that came with descriptors, on its way to one receiver.
struct DescribedFrame {
    private let descriptors: FrameDescriptors
    /// Whether the receiver gets the file that holds the body.
    private let passesFile: Bool
    /// The file with the bytes that the receiver gets instead.
    private var file: MappedFile?
    /// Why its bytes can't be sent; nil if they can.
    private(set) var problem: BusError?
    /// The bytes that the frame itself carries.
    let body: UnsafeRawBufferPointer

    /// - Parameter body: the body of a frame with descriptors of the application.
    init(_ descriptors: FrameDescriptors, _ body: UnsafeRawBufferPointer, to peer: Peer) {
        self.descriptors = descriptors
        passesFile = descriptors.bodyCount > 0 && peer.takes(.memory)
        if descriptors.bodyCount > 0, !passesFile {
            do throws(BusError) { file = try descriptors.mappedBody() } catch { problem = error }
        }
        self.body = descriptors.bodyCount == 0 ? body : file?.bytes ?? .none
    }

    /// Whether what came is the frame's body, and no descriptors of the application.
    var isBody: Bool { descriptors.bodyCount > 0 }
    /// Whether the receiver gets the body's bytes, although they came in a file.
    var isInlineBody: Bool { isBody && !passesFile }
    var bodyCount: Int { descriptors.bodyCount }
    /// The number of the application's descriptors.
    var applicationCount: UInt8 { descriptors.applicationCount }

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
        if let file { return Payload(file.bytes, in: file, reclaimer) }
        let payload =
            body.count < Outbox.largeBody ? Payload(copying: body, reclaimer) : Payload(borrowing: body, reclaimer)
        payload.descriptors = descriptors
        descriptors.queued()
        return payload
    }
}

extension Peer {
    /// Whether its hello says that it takes such descriptors.
    final func takes(_ term: PeerDescriptors.Terms) -> Bool { descriptors?.terms.contains(term) == true }
}

extension Unmanaged<FrameDescriptors>? {
    /// The number of the application's descriptors.
    var applicationCount: UInt8 { self?.takeUnretainedValue().applicationCount ?? 0 }
}
