/// Bytes that wait in their order. The memory grows with them, up to a limit, and is made at the
/// first byte.
struct ByteRing: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    /// The bytes that the memory holds.
    private(set) var capacity = 0
    private var start = 0
    private(set) var count = 0
    /// The most bytes that may wait.
    let limit: Int

    /// The first capacity, and the one that an empty ring may keep.
    static let smallest = 64 << 10

    init(limit: Int) { self.limit = limit }

    deinit { memory?.deallocate() }

    /// Adds bytes behind the others; they must fit into the limit.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        precondition(bytes.count <= limit - count, "a ring of \(limit) bytes was filled beyond that")
        if count + bytes.count > capacity { grow(to: count + bytes.count) }
        guard let memory else { return }
        let end = (start + count) % capacity
        let first = min(bytes.count, capacity - end)
        (memory + end).copyMemory(from: source, byteCount: first)
        memory.copyMemory(from: source + first, byteCount: bytes.count - first)
        count += bytes.count
    }

    /// Forgets the first bytes.
    mutating func drop(_ number: Int) {
        precondition(number >= 0 && number <= count, "\(number) of \(count) bytes were dropped")
        count -= number
        start = count == 0 ? 0 : (start + number) % capacity
    }

    /// Copies bytes out, which stay.
    /// - Parameter place: the number of bytes before them in the ring.
    func copy(from place: Int, count number: Int, to target: UnsafeMutableRawPointer) {
        precondition(place >= 0 && number >= 0 && place + number <= count, "bytes were copied that don't wait")
        guard let memory, number > 0 else { return }
        let from = (start + place) % capacity
        let first = min(number, capacity - from)
        target.copyMemory(from: memory + from, byteCount: first)
        (target + first).copyMemory(from: memory, byteCount: number - first)
    }

    /// Lends all bytes, as one buffer or as two.
    func withBytes<Result>(_ use: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result) -> Result {
        let first = min(count, capacity - start)
        let begin = memory.map { UnsafeRawPointer($0) + start }
        return use(
            UnsafeRawBufferPointer(start: begin, count: first),
            UnsafeRawBufferPointer(start: memory.map { UnsafeRawPointer($0) }, count: count - first))
    }

    /// Gives the memory of an empty ring back, except the smallest.
    mutating func shrink() {
        guard count == 0, capacity > Self.smallest else { return }
        memory?.deallocate()
        memory = nil
        capacity = 0
    }

    private mutating func grow(to needed: Int) {
        var larger = max(capacity * 2, Self.smallest)
        while larger < needed { larger *= 2 }
        larger = min(larger, limit)
        let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        copy(from: 0, count: count, to: new)
        memory?.deallocate()
        memory = new
        capacity = larger
        start = 0
    }
}
