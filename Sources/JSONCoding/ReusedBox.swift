/// What the standard library makes of a keyed container: an object with the container in it, to which
/// `KeyedEncodingContainer` and `KeyedDecodingContainer` are a reference and nothing else.
///
/// To make one takes memory and a look-up of its type, together some 700 instructions. So one is kept, and gets another
/// place inside when nobody else refers to it any more. Where the place is was found by looking for it in the first one;
/// if it isn't there, none is kept.
struct ReusedBox<Place: ContainerPlace> {
    private var box: AnyObject?
    /// Whether there is a place in the box. Between two values there is none, because it would keep their state alive.
    private var isSet = false

    /// The header of an object: its type and its references.
    private static var header: Int { 2 * MemoryLayout<UInt>.size }

    /// Puts a place into the box.
    /// - Returns: the box; nil if there is none, or somebody still refers to it.
    @inline(__always)
    mutating func take(_ place: Place) -> AnyObject? {
        guard isKnownUniquelyReferenced(&box), let box else { return nil }
        if isSet { Self.place(in: box).pointee = place } else { Self.place(in: box).initialize(to: place) }
        isSet = true
        return box
    }

    /// Keeps the box of a new container, if there is none.
    @inline(never)
    mutating func keep<Container>(_ container: Container, _ place: Place) {
        guard box == nil, MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return }
        let box = unsafeBitCast(container, to: AnyObject.self)  // because it is one reference
        let found = UnsafeRawBufferPointer(start: Self.place(in: box), count: MemoryLayout<Place>.size)
        guard withUnsafeBytes(of: place, { $0.elementsEqual(found) }) else { return }
        (self.box, isSet) = (box, true)
    }

    /// Takes the place out. A box to which somebody still refers is given up, with its place.
    mutating func valueEnds() {
        guard isSet else { return }
        isSet = false
        if isKnownUniquelyReferenced(&box), let box {
            Self.place(in: box).deinitialize(count: 1)
        } else {
            box = nil
        }
    }

    /// Makes the box whole, so that it can be freed.
    func end() {
        if let box, !isSet { Self.place(in: box).initialize(to: .none) }
    }

    @inline(__always)
    private static func place(in box: AnyObject) -> UnsafeMutablePointer<Place> {
        (Unmanaged.passUnretained(box).toOpaque() + header).assumingMemoryBound(to: Place.self)
    }
}
