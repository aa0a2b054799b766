import StrataCore

/// An answer of the bus's own that grows with what modules bring. It is made in parts, so that
/// other peers have turns in between.
final class Listing {
    /// Appends the next part to an empty array, which takes some microseconds. Returns false if
    /// there is none left.
    typealias Part = (inout [UInt8]) -> Bool

    /// The fixed cost of a part, in bytes that take as long to write.
    private static let partCost = 64
    /// The work of a batch while a light peer is connected (`TurnShares`), in bytes: some ten
    /// microseconds.
    static let sharedBatch = 2 << 10
    /// The work of a batch while no light peer is connected, in bytes: about a millisecond.
    static let batch = 256 << 10

    let peer: Peer
    let id: UInt64
    private let nextPart: Part
    private var part: [UInt8] = []
    private var answer: PayloadWriter

    init(for peer: Peer, id: UInt64, _ reclaimer: Reclaimer, _ nextPart: @escaping Part) {
        self.peer = peer
        self.id = id
        self.nextPart = nextPart
        answer = PayloadWriter(reclaimer)
    }

    /// Takes the finished answer.
    func takeAnswer() -> Payload { answer.take() }

    /// Makes parts until `work` is done, or until the answer has more than `most` bytes.
    /// - Returns: whether nothing is left to be made.
    func advance(most: Int, work: Int) -> Bool {
        var left = work
        while left > 0 {
            // An answer that is too long is refused, so the rest needn't be made.
            guard answer.count <= most, nextPart(&part) else { return true }
            left -= part.count + Self.partCost
            answer.append(part)
            part.removeAll(keepingCapacity: true)
        }
        return false
    }

    /// Returns the parts of `{"NAME": [element…]}`, one element in each part.
    /// - Parameter describe: returns nil to leave an element out.
    static func array<Element>(
        _ name: String, of elements: [Element], first: [JSON.Member] = [], _ describe: @escaping (Element) -> JSON?
    ) -> Part {
        var index = 0
        var isFirst = true
        var isOpen = false
        return { bytes in
            if !isOpen {
                isOpen = true
                JSON.object(first + [.init(name, .array([]))]).write(to: &bytes)
                // Removes `]}`, which the last part appends again.
                bytes.removeLast(2)
            } else if index < elements.count {
                defer { index += 1 }
                guard let element = describe(elements[index]) else { return true }
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                element.write(to: &bytes)
            } else if index == elements.count {
                index += 1
                bytes.append(contentsOf: "]}".utf8)
            } else {
                return false
            }
            return true
        }
    }
}

/// Listings are made one after another. A peer isn't read until its listing is answered.
extension BusCore {
    /// Begins a listing, and finishes it at once if it is small.
    func list(for peer: Peer, id: UInt64, _ nextPart: @escaping Listing.Part) {
        let listing = Listing(for: peer, id: id, reclaimer, nextPart)
        if advance(listing, work: batch) { return }
        work.add(listing)
        peer.line.take(.paused(.idleWork))
    }

    private var batch: Int { isShared ? Listing.sharedBatch : Listing.batch }

    /// Makes the next batch of the oldest listing.
    func advanceListings() {
        guard let listing = work.listings.first, advance(listing, work: batch) else { return }
        work.endFirstListing()
    }

    /// Makes everything that is left, because the next action must not come before it.
    func finishListings() {
        while let listing = work.listings.first {
            _ = advance(listing, work: .max)
            work.endFirstListing()
        }
    }

    /// - Returns: whether the listing is answered.
    private func advance(_ listing: Listing, work: Int) -> Bool {
        guard listing.peer.isOpen else { return true }
        guard listing.advance(most: mostAnswered, work: work) else { return false }
        writeFitting(listing.peer, id: listing.id, listing.takeAnswer())
        return true
    }
}
