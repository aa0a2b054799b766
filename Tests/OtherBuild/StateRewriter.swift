/// Rewrites a broker's state as a build with other fields would have written it.
///
/// It decodes the words by itself, without the code of `StateFile`, as if the format belonged to
/// another program.
struct StateRewriter {
    /// The place of a field: the tags that lead to it. An element of a list has 0.
    typealias Path = [UInt16]

    /// The mark, and the number of the queues' descriptor.
    static let header = 24
    /// Fields that no build knows, after each part's own.
    static let unknown: [UInt16] = [60_001, 60_002, 60_003, 60_004]

    /// Whether each part gets the fields of `unknown`.
    let adds: Bool
    /// Returns whether a field is left out.
    let leavesOut: (Path) -> Bool
    /// All fields that occurred.
    private(set) var paths: Set<Path> = []

    init(adds: Bool = false, leavesOut: @escaping (Path) -> Bool = { _ in false }) {
        self.adds = adds
        self.leavesOut = leavesOut
    }

    private var input: [UInt8] = []
    private var position = 0
    private var output: [UInt8] = []

    /// - Returns: the rewritten file of the state.
    mutating func rewrite(_ state: [UInt8]) -> [UInt8] {
        input = state
        position = Self.header
        output = Array(state.prefix(Self.header))
        paths = []
        field([])
        precondition(position == input.count, "the state ends at \(position) of \(input.count) bytes")
        return output
    }

    private enum Kind: UInt64 { case end, number, largeNumber, bytes, waiting, part, list }

    /// Copies one field, or skips it.
    private mutating func field(_ path: Path) {
        let start = output.count
        if !path.isEmpty { paths.insert(path) }
        let word = take()
        put(word)
        guard let kind = Kind(rawValue: word >> 16 & 0xFF) else { preconditionFailure("no kind at \(position)") }
        switch kind {
        case .end, .number: break
        case .largeNumber, .waiting: put(take())
        case .bytes:
            let end = position + Int(word >> 24)
            output += input[position..<end]
            position = end
        case .list: for _ in 0..<word >> 24 { field(path + [0]) }
        case .part:
            while peek() >> 16 & 0xFF != Kind.end.rawValue { field(path + [UInt16(peek() & 0xFFFF)]) }
            if adds { addUnknown() }
            put(take())
        }
        if leavesOut(path) { output.removeSubrange(start...) }
    }

    private mutating func addUnknown() {
        func word(_ tag: UInt16, _ kind: Kind, _ number: UInt64) -> UInt64 {
            UInt64(tag) | kind.rawValue << 16 | number << 24
        }
        put(word(Self.unknown[0], .number, 7))
        put(word(Self.unknown[1], .largeNumber, 0))
        put(.max)
        put(word(Self.unknown[2], .bytes, 3))
        output += [1, 2, 3]
        put(word(Self.unknown[3], .list, 2))
        for _ in 0..<2 {
            put(word(0, .part, 0))
            put(word(1, .bytes, 0))
            put(word(0, .end, 0))
        }
    }

    private func peek() -> UInt64 {
        input[position..<position + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func take() -> UInt64 {
        defer { position += 8 }
        return peek()
    }

    private mutating func put(_ word: UInt64) {
        for shift in 0..<8 { output.append(UInt8(word >> (8 * UInt64(shift)) & 0xFF)) }
    }
}
