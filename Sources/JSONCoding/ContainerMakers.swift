/// Objects that make the keyed containers of one type of keys.
///
/// A container's type is generic in the type of its keys. For code that is generic itself, the Swift runtime looks such
/// a type up each time: some 350 instructions, and 170 more for its conformance. A maker has both as its own.
struct ContainerMakers {
    private static let count = 32
    /// Each maker has one place, which a later one may take over.
    private var places: [(keys: ObjectIdentifier, maker: ContainerMaker)?] = []
    /// A bit for each place whose maker has made one for the present value.
    private var used: UInt32 = 0

    /// Returns the maker for a type of keys.
    /// - Parameter make: makes it. A type of keys always has the same type of maker.
    @inline(__always)
    mutating func maker<Maker: ContainerMaker>(for keys: Any.Type, _ make: () -> Maker) -> Maker {
        let keys = ObjectIdentifier(keys)
        let bits = UInt(bitPattern: keys)
        let place = Int((bits >> 4 ^ bits >> 9) % UInt(Self.count))
        if places.isEmpty { places = Array(repeating: nil, count: Self.count) }
        used |= 1 << UInt32(place)
        // because the keys' type says which maker it is
        if let known = places[place], known.keys == keys { return unsafeDowncast(known.maker, to: Maker.self) }
        let maker = make()
        places[place] = (keys, maker)
        return maker
    }

    /// Ends the present value: the containers that were made for it may be used for the next one.
    mutating func valueEnds() {
        while used != 0 {
            places[used.trailingZeroBitCount]?.maker.valueEnds()
            used &= used - 1
        }
    }
}

/// Makes one type of keyed containers.
class ContainerMaker {
    func valueEnds() {}
}

/// Where a container reads or writes: what it has in it.
protocol ContainerPlace {
    /// A place of no value.
    static var none: Self { get }
}

/// A keyed container that is made from its place alone.
protocol StateWriting: KeyedEncodingContainerProtocol {
    init(_ place: WriterPlace)
}

protocol StateReading: KeyedDecodingContainerProtocol {
    init(_ place: ReaderPlace)
}

/// A place in the state of what is written.
struct WriterPlace: ContainerPlace {
    let state: WriterState
    let id: ScopeID

    static var none: WriterPlace { WriterPlace(state: WriterState(), id: .none) }
}

/// A place in the state of what is read.
struct ReaderPlace: ContainerPlace {
    let state: ReaderState
    let index: UInt32

    static var none: ReaderPlace { ReaderPlace(state: ReaderState(), index: 0) }
}

/// Makes one type of containers to write to. `Made` is what the standard library makes of them: as a parameter of the
/// maker, because code that is generic itself would look that type up each time, too.
///
/// `box` is unchecked for exclusivity because none of its methods makes a call that could return here.
final class WriterMaker<Container: StateWriting, Made>: ContainerMaker {
    @exclusivity(unchecked) private var box = ReusedBox<WriterPlace>()

    /// - Parameter reuses: whether `valueEnds` follows.
    @inline(never)
    func make(_ place: WriterPlace, reuses: Bool) -> Made {
        // because the box is one of such a container
        if reuses, let box = box.take(place) { return unsafeBitCast(box, to: Made.self) }
        return makeAnew(place, reuses)
    }

    @inline(never)
    private func makeAnew(_ place: WriterPlace, _ reuses: Bool) -> Made {
        let container = KeyedEncodingContainer(Container(place))
        if reuses { box.keep(container, place) }
        return unsafeBitCast(container, to: Made.self)  // because it is that type
    }

    override func valueEnds() { box.valueEnds() }
    deinit { box.end() }
}

/// Makes one type of containers to read from, likewise.
final class ReaderMaker<Container: StateReading, Made>: ContainerMaker {
    @exclusivity(unchecked) private var box = ReusedBox<ReaderPlace>()

    /// - Parameter reuses: whether `valueEnds` follows.
    @inline(never)
    func make(_ place: ReaderPlace, reuses: Bool) -> Made {
        // because the box is one of such a container
        if reuses, let box = box.take(place) { return unsafeBitCast(box, to: Made.self) }
        return makeAnew(place, reuses)
    }

    @inline(never)
    private func makeAnew(_ place: ReaderPlace, _ reuses: Bool) -> Made {
        let container = KeyedDecodingContainer(Container(place))
        if reuses { box.keep(container, place) }
        return unsafeBitCast(container, to: Made.self)  // because it is that type
    }

    override func valueEnds() { box.valueEnds() }
    deinit { box.end() }
}
