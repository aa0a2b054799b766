/// Objects that make the keyed containers of one type of keys.
///
/// A container's type is generic in the type of its keys. For code that is generic itself, the Swift runtime looks such
/// a type up each time: some 350 instructions, and 170 more for its conformance. A maker has both as its own.
struct ContainerMakers {
    private static let count = 32
    /// Each maker has one place, which a later one may take over.
    private var places: [(keys: ObjectIdentifier, maker: AnyObject)?] = []

    /// Returns the maker for a type of keys.
    /// - Parameter make: makes it. A type of keys always has the same type of maker.
    @inline(__always)
    mutating func maker<Maker: AnyObject>(for keys: Any.Type, _ make: () -> Maker) -> Maker {
        let keys = ObjectIdentifier(keys)
        let bits = UInt(bitPattern: keys)
        let place = Int((bits >> 4 ^ bits >> 9) % UInt(Self.count))
        if places.isEmpty { places = Array(repeating: nil, count: Self.count) }
        // because the keys' type says which maker it is
        if let known = places[place], known.keys == keys { return unsafeDowncast(known.maker, to: Maker.self) }
        let maker = make()
        places[place] = (keys, maker)
        return maker
    }
}

/// A keyed container that is made from the state of what is written, and a place in it.
protocol StateWriting: KeyedEncodingContainerProtocol {
    init(state: WriterState, id: ScopeID)
}

/// A keyed container that is made from the state of what is read, and a place in it.
protocol StateReading: KeyedDecodingContainerProtocol {
    init(state: ReaderState, index: UInt32)
}

/// Makes one type of containers to write to.
final class WriterMaker<Container: StateWriting> {
    @inline(never)
    func make(_ state: WriterState, _ id: ScopeID) -> KeyedEncodingContainer<Container.Key> {
        KeyedEncodingContainer(Container(state: state, id: id))
    }
}

/// Makes one type of containers to read from.
final class ReaderMaker<Container: StateReading> {
    @inline(never)
    func make(_ state: ReaderState, _ index: UInt32) -> KeyedDecodingContainer<Container.Key> {
        KeyedDecodingContainer(Container(state: state, index: index))
    }
}
