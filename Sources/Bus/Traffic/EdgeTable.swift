import StrataCore

/// What `bus/traffic` counts, by edge: a sender, a receiver, a kind and a name.
///
/// Names are known by numbers, which peers, interfaces, URLs and observations keep (`TextSlot`). So
/// a known edge is found without its names' bytes, and counting in it allocates nothing. There is a
/// table only while a stream is open.
struct EdgeTable: ~Copyable {
    /// The most edges. What is beyond is counted for each sender.
    static let most = 4_096
    /// The most senders for which that is counted. All others share one count.
    static let mostOthers = 1_024
    /// The most bytes of a name; a longer one is counted as an empty one.
    static let longestText = 256
    /// Every edge has a place below this.
    static let capacity = most + mostOthers + 1

    enum Kind: UInt64 {
        case call, open, broadcast, report
        /// What is beyond the most edges.
        case others

        var name: StaticString {
            switch self {
            case .call: "call"
            case .open: "open"
            case .broadcast: "broadcast"
            case .report: "report"
            case .others: "others"
            }
        }
    }

    /// The three names of an edge, by their numbers, and its kind.
    struct Key {
        static let bits: UInt64 = 14

        let bytes: UInt64

        @inline(__always)
        init(_ from: UInt32, _ to: UInt32, _ kind: Kind, _ name: UInt32) {
            bytes =
                ((UInt64(from) << Self.bits | UInt64(to)) << Self.bits | UInt64(name)) << 3 | kind.rawValue
        }

        private func number(_ place: UInt64) -> Int { Int(bytes >> (3 + place * Self.bits) & (1 << Self.bits - 1)) }
        var from: Int { number(2) }
        var to: Int { number(1) }
        var name: Int { number(0) }
        var kind: Kind { Kind(rawValue: bytes & 7)! }  // because it was made from a kind
    }

    struct Edge {
        let key: Key
        /// The requests or notices since the first stream began.
        var count: UInt64 = 0
        /// Those of them that were refused or answered with an error.
        var errors: UInt64 = 0
        /// The requests of them that are open.
        var waiting: UInt64 = 0
    }

    /// The number of this table, which no other one has had.
    let number: UInt32
    /// Changes when what peers keep of this table is void (`RecentEdge`). No other table has had it.
    var epoch: UInt32
    /// How each partial reply begins, which says when counting began.
    let opening: [UInt8]
    private let edges = UnsafeMutablePointer<Edge>.allocate(capacity: capacity)
    /// For each edge the bits of the streams that must still be told of it.
    private let changed = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    private(set) var count = 0
    private var othersCount = 0
    private var places = NumberTable<UInt32>()
    /// The names as JSON, by their numbers. The first two are no name, and the empty one.
    private var texts: [[UInt8]] = [[], Array("\"\"".utf8)]
    private var numbers = ByteTable<TextNumber>()
    /// The bits of the open streams.
    private(set) var streams: UInt8 = 0
    /// Whether changes will be told, so that a frame needn't plan it.
    var isPlanned = false
    /// The broadcast that is being delivered.
    var broadcast = Broadcast()
    /// Whether the call to `bus` that is being handled is counted.
    var isServedCounted = false

    /// What the notices of a broadcast have in common: where the names of its sender and of the
    /// notification are while it is delivered, and their numbers.
    struct Broadcast {
        var from: UnsafeRawPointer?
        var fromNumber: UInt32 = 0
        var name: UnsafeRawPointer?
        var nameNumber: UInt32 = 0
    }

    private final class TextNumber {
        let number: UInt32
        init(_ number: UInt32) { self.number = number }
    }

    /// The number of no name: the table has no room for it.
    static let unknown: UInt32 = 0
    static let empty: UInt32 = 1

    /// - Parameter since: when counting began, in microseconds since 1970.
    init(number: UInt32, epoch: UInt32 = 1, since: UInt64) {
        (self.number, self.epoch) = (number, epoch)
        opening = Array("{\"since\":\(since),\"edges\":[".utf8)
    }

    deinit {
        edges.deallocate()
        changed.deallocate()
    }

    /// The bit of a `RecentEdge`'s name that says that it is a notification's: no action has a number
    /// so large.
    static let noticeMark: UInt32 = 1 << 31

    // MARK: Names

    /// Returns the number of the name that a slot is for.
    @inline(__always)
    mutating func number(
        of slot: inout TextSlot, _ text: @autoclosure () -> Header.Text, isSender: Bool = false
    ) -> UInt32 {
        if slot.table == self.number { return slot.number }
        let found = self.number(of: text(), isSender: isSender)
        // A name that has no room now may have some in a later table.
        if found != Self.unknown { slot = TextSlot(table: self.number, number: found) }
        return found
    }

    /// Returns the number of a name, and gives it one while an edge with it would have room.
    /// - Parameter isSender: whether what is beyond the most edges may be counted for it.
    @inline(never)
    mutating func number(of text: Header.Text, isSender: Bool = false) -> UInt32 {
        if text.isEmpty || text.count > Self.longestText { return Self.empty }
        if let known = numbers.findUnretained(text) { return known._withUnsafeGuaranteedRef { $0.number } }
        guard count - othersCount < Self.most || isSender && othersCount < Self.mostOthers,
            texts.count < 1 << Key.bits
        else { return Self.unknown }
        let number = UInt32(texts.count)
        texts.append(JSON.string(text.text).encoded())
        numbers.set(text, TextNumber(number))
        return number
    }

    // MARK: Counting

    /// Returns the place of an edge, which is made if there is room.
    @inline(__always)
    mutating func place(_ key: Key) -> Int {
        if let place = places[key.bytes] { return Int(place) }
        return addPlace(key)
    }

    @inline(never)
    private mutating func addPlace(_ key: Key) -> Int {
        let isKnown = key.from != 0 && key.to != 0 && key.name != 0
        if key.kind != .others, isKnown, count - othersCount < Self.most { return add(key) }
        // Senders that aren't told apart share the place of the empty name.
        let hasOwn = key.from > Self.empty
        let others = Key(hasOwn ? UInt32(key.from) : Self.empty, Self.empty, .others, Self.empty)
        if let place = places[others.bytes] { return Int(place) }
        let shared = Key(Self.empty, Self.empty, .others, Self.empty)
        guard hasOwn, othersCount < Self.mostOthers else { return places[shared.bytes].map { Int($0) } ?? add(shared) }
        othersCount += 1
        return add(others)
    }

    private mutating func add(_ key: Key) -> Int {
        let place = count
        (edges + place).initialize(to: Edge(key: key))
        (changed + place).initialize(to: streams)
        places[key.bytes] = UInt32(place)
        count += 1
        return place
    }

    /// Counts a request or a notice.
    @inline(__always)
    mutating func count(at place: Int) {
        edges[place].count &+= 1
        changed[place] = streams
    }

    /// Counts a request, and notes that it is open.
    @inline(__always)
    mutating func open(at place: Int) {
        edges[place].count &+= 1
        edges[place].waiting &+= 1
        changed[place] = streams
    }

    /// Counts the end of an open request.
    @inline(__always)
    mutating func end(at place: Int, isError: Bool) {
        // A number of an earlier table may seem to be this one's, after half a million tables.
        guard place < count, edges[place].waiting > 0 else { return }
        edges[place].waiting &-= 1
        if isError { edges[place].errors &+= 1 }
        changed[place] = streams
    }

    /// Counts a request that was refused.
    mutating func refuse(at place: Int) {
        edges[place].errors += 1
        count(at: place)
    }

    // MARK: Telling

    mutating func add(stream bit: UInt8) {
        streams |= bit
        for place in 0..<count { changed[place] |= bit }
    }

    mutating func remove(stream bit: UInt8) {
        streams &= ~bit
        for place in 0..<count { changed[place] &= ~bit }
    }

    /// Returns the first edge from a place on that some of these streams must be told of.
    func next(from start: Int, for streams: UInt8) -> Int? {
        var place = start
        while place < count {
            if changed[place] & streams != 0 { return place }
            place += 1
        }
        return nil
    }

    mutating func mustTell(_ place: Int, to stream: UInt8) { changed[place] |= stream }

    /// Appends an edge to a stream's partial reply.
    mutating func tell(_ place: Int, to stream: UInt8, in bytes: inout [UInt8]) {
        changed[place] &= ~stream
        let edge = edges[place]
        bytes.append(contentsOf: "{\"from\":".utf8)
        bytes.append(contentsOf: texts[edge.key.from])
        bytes.append(contentsOf: ",\"to\":".utf8)
        bytes.append(contentsOf: texts[edge.key.to])
        bytes.append(contentsOf: ",\"kind\":\"".utf8)
        bytes.append(
            contentsOf: UnsafeBufferPointer(
                start: edge.key.kind.name.utf8Start, count: edge.key.kind.name.utf8CodeUnitCount))
        bytes.append(contentsOf: "\",\"name\":".utf8)
        bytes.append(contentsOf: texts[edge.key.name])
        // Ten times a second for each edge, so without a string.
        withUnsafeTemporaryAllocation(byteCount: HeaderWriter.overhead, alignment: 8) { memory in
            var counts = HeaderWriter(memory.baseAddress!, opening: "")  // because it has a size
            counts.integer("count", edge.count)
            counts.integer("errors", edge.errors)
            counts.integer("waiting", edge.waiting)
            counts.literal("}")
            bytes.append(contentsOf: memory[8..<counts.count])
        }
    }
}

/// The number that a name has in an `EdgeTable`, kept by what has the name.
struct TextSlot {
    /// The table; 0 for none.
    var table: UInt32 = 0
    var number: UInt32 = 0
}

/// The edge that was counted last for a receiver, which keeps it: so a busy edge is found without
/// its names.
struct RecentEdge {
    /// The table's; 0 for none.
    var epoch: UInt32 = 0
    /// The number of the action in `ActionNames`, or of the notification in the table.
    var name: UInt32 = 0
    /// The number of the caller's connection, or of the notification's sender in the table.
    var from: UInt64 = 0
    var place: UInt32 = 0
}

/// The edge that an open request is counted at: a table and a place in it, in four bytes.
struct EdgeReference {
    private static let bits: UInt32 = 13
    private var raw: UInt32 = 0

    /// No edge.
    init() {}

    /// Returns the number of the table after another one; 0 would be no table's.
    static func next(after number: UInt32) -> UInt32 {
        let next = number &+ 1
        return next << bits == 0 ? next &+ 1 : next
    }

    @inline(__always)
    init(_ place: Int, of table: UInt32) {
        raw = table << Self.bits | UInt32(truncatingIfNeeded: place)
    }

    /// Returns the place in the table with a number; nil if it belongs to no table or to another one.
    @inline(__always)
    func place(in table: UInt32) -> Int? {
        let mask: UInt32 = 1 << Self.bits - 1
        guard raw & ~mask == table << Self.bits, raw != 0 else { return nil }
        return Int(raw & mask)
    }
}
