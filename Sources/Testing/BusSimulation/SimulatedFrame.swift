import StrataCore

/// A frame that a simulated peer received.
struct SimulatedFrame {
    var kind: Header.Kind
    var id: UInt64
    var to: String
    var from: String
    /// The node that it came from; empty if it is the receiver's own.
    var node: String
    var level: String
    var name: String
    var object: String
    var url: String
    var code: String
    /// An error's message.
    var text: String
    var ran: BusError.Ran
    var more: Bool
    var missed: Int
    /// Whether a notice is marked as retained.
    var isRetained: Bool
    var subscription: Int
    var deadline: Int
    var credit: Int
    var depth: Int
    /// An error's `root`; nil if it has none.
    var root: BusError.Root?
    /// The header's bytes, as they arrived.
    var header: [UInt8]
    var body: [UInt8]

    init(_ header: borrowing Header, _ bytes: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) {
        self.header = Array(bytes)
        kind = header.kind
        id = header.members.contains(.id) ? header.id : 0
        to = header.members.contains(.to) ? header.to.text : ""
        from = header.members.contains(.from) ? header.from.text : ""
        node = header.node.text
        level = header.members.contains(.level) ? header.level.text : ""
        name = header.members.contains(.name) ? header.name.text : ""
        object = header.members.contains(.object) ? header.object.text : ""
        url = header.members.contains(.url) ? header.url.text : ""
        code = header.members.contains(.code) ? header.code.text : ""
        text = header.kind == .error && header.members.contains(.message) ? header.message.text : ""
        ran = header.members.contains(.ran) ? header.ran : .no
        more = header.members.contains(.more) && header.more
        missed = header.members.contains(.missed) ? Int(header.missed) : 0
        isRetained = header.members.contains(.retained) && header.flags.contains(.retained)
        subscription = header.members.contains(.subscription) ? Int(header.subscription) : 0
        deadline = header.members.contains(.deadline) ? Int(header.deadline) : 0
        credit = header.members.contains(.credit) ? Int(header.credit) : 0
        depth = header.members.contains(.depth) ? Int(header.depth) : 0
        root = BusError.Root(header.root)
        self.body = Array(body)
    }

    /// Returns the number under a key of the body, which peers write as `{"n":7}`; -1 if there is
    /// none.
    func number(_ name: StaticString = "n") -> Int {
        let key = [UInt8(ascii: "\""), name.utf8Start.pointee, UInt8(ascii: "\""), UInt8(ascii: ":")]
        guard body.count > 5, body.dropFirst().starts(with: key) else { return -1 }
        var (number, digits) = (0, 0)
        for byte in body.dropFirst(5) {
            if byte == UInt8(ascii: "\""), digits == 0 { continue }
            guard byte >= 0x30, byte <= 0x39 else { break }
            number = number * 10 + Int(byte - 0x30)
            digits += 1
        }
        return digits > 0 ? number : -1
    }
}

/// Splits the bytes of a connection into frames, and keeps an unfinished one.
struct SimulatedInput {
    private var bytes: [UInt8] = []

    /// - Returns: the frames that are complete now.
    mutating func append(_ further: ArraySlice<UInt8>, _ scanner: HeaderScanner) throws -> [SimulatedFrame] {
        bytes += further
        var (frames, position): ([SimulatedFrame], Int) = ([], 0)
        let count = bytes.count
        bytes += [UInt8](repeating: 0, count: ReadBuffer.slack)
        defer { bytes.removeLast(ReadBuffer.slack) }
        try bytes.withUnsafeBytes { all in
            var header = Header()
            while count - position >= 8 {
                let length = Int(UInt32(bigEndian: all.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
                let head = Int(UInt32(bigEndian: all.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)))
                guard count - position >= 4 + length else { break }
                let start = position + 8
                let bytes = UnsafeRawBufferPointer(rebasing: all[start..<start + head])
                try scanner.scanFromBroker(bytes, into: &header)
                frames.append(
                    SimulatedFrame(header, bytes, .init(rebasing: all[start + head..<position + 4 + length])))
                position += 4 + length
            }
        }
        let left = position
        if left > 0 { bytes.removeFirst(left) }
        return frames
    }

    /// Whether a frame has begun and isn't complete.
    var isWithinFrame: Bool { !bytes.isEmpty }
}
