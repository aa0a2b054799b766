internal import Glibc

/// Bytes that come piece by piece and become a payload without a copy: the system moves the
/// pages of what has grown large (`LargeBlocks`).
///
/// Used on one loop's thread.
public struct PayloadWriter: ~Copyable {
    /// What is small has so many bytes at most.
    private static let small = 16 << 10
    /// What isn't has so much room at first: more than the C library keeps for small blocks,
    /// so that it has pages of its own, and more than `SpareBlocks` have, which can't grow.
    /// Pages that nothing was written to are no memory yet.
    private static let large = 8 << 20

    private let reclaimer: Reclaimer
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    public private(set) var count = 0

    /// - Parameter reclaimer: takes the memory back, piece by piece.
    public init(_ reclaimer: Reclaimer) { self.reclaimer = reclaimer }

    deinit { if let start = memory.baseAddress { reclaimer.deallocate(start, memory.count) } }

    public mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if count + bytes.count > memory.count { grow(to: count + bytes.count) }
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: $0) }
        count += bytes.count
    }

    /// What was written; the writer is empty after it.
    public mutating func take() -> Payload {
        if memory.count > Self.small { resize(to: max(count, SpareBlocks.largest + 1)) }
        let payload = Payload(borrowing: UnsafeRawBufferPointer(rebasing: memory[..<count]), reclaimer)
        payload.own(memory)
        memory = .init(start: nil, count: 0)
        count = 0
        return payload
    }

    private mutating func grow(to least: Int) {
        var capacity = least <= Self.small ? Self.small : Self.large
        while capacity < least { capacity *= 2 }
        resize(to: capacity)
    }

    private mutating func resize(to capacity: Int) {
        guard let resized = realloc(memory.baseAddress, capacity) else {
            // Because without it no answer can be made, as without any other memory that
            // Swift asks for.
            fatalError("there is no memory for a body of \(capacity) bytes")
        }
        memory = .init(start: resized, count: capacity)
    }
}
