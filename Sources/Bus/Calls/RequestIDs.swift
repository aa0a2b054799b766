/// A peer's own numbers of its open requests, and the calls that they are.
/// Open addressing with Fibonacci hashing; deletion shifts back, so that no
/// tombstones gather.
struct RequestIDs: ~Copyable {
    private struct Slot {
        /// 0 is free: no request has that number.
        var id: UInt64
        var call: CallPointer?
    }

    private var slots: UnsafeMutablePointer<Slot>?
    private var mask = 0
    private(set) var count = 0

    deinit { slots?.deallocate() }

    func find(_ id: UInt64) -> CallPointer? {
        guard count > 0, let slots else { return nil }
        var index = home(id)
        while slots[index].id != 0 {
            if slots[index].id == id { return slots[index].call }
            index = (index + 1) & mask
        }
        return nil
    }

    mutating func insert(_ id: UInt64, _ call: CallPointer) {
        if slots == nil || count * 2 > mask { grow() }
        put(id, call)
        count += 1
    }

    mutating func remove(_ id: UInt64) {
        guard let slots else { return }
        var index = home(id)
        while slots[index].id != id {
            guard slots[index].id != 0 else { return }
            index = (index + 1) & mask
        }
        count -= 1
        var hole = index
        var next = (index + 1) & mask
        while slots[next].id != 0 {
            // What stands between its home and the hole may fill the hole.
            if (next - home(slots[next].id)) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot(id: 0, call: nil)
    }

    @inline(__always)
    private func home(_ id: UInt64) -> Int {
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }

    private func put(_ id: UInt64, _ call: CallPointer?) {
        var index = home(id)
        while slots![index].id != 0 { index = (index + 1) & mask }
        slots![index] = Slot(id: id, call: call)
    }

    private mutating func grow() {
        let old = slots
        let oldCount = slots == nil ? 0 : mask + 1
        let capacity = max(8, oldCount * 2)
        slots = .allocate(capacity: capacity)
        slots!.initialize(repeating: Slot(id: 0, call: nil), count: capacity)
        mask = capacity - 1
        for index in 0..<oldCount where old![index].id != 0 { put(old![index].id, old![index].call) }
        old?.deallocate()
    }
}
