import StrataCore

/// Descriptors in a broker's state: the next program has them under the same numbers.
struct DescriptorState: StatePart {
    /// The index of the payload that they go with; -1 for those whose frame isn't handled yet.
    var payload = -1
    var numbers: [Int32] = []
    /// The peer that sent them; 0 if it has ended.
    var sender: UInt64 = 0
    /// Why they can't go on; empty if they can.
    var refusal = ""
    /// The length of the body that the only one holds, in bytes; 0 for other descriptors.
    var bodyCount = 0

    init() {}

    init(_ descriptors: FrameDescriptors, payload: Int = -1) {
        self.payload = payload
        numbers = descriptors.numbers
        sender = descriptors.count?.sender ?? 0
        refusal = descriptors.refusal?.message ?? ""
        bodyCount = descriptors.bodyCount
    }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &payload)
        try file(2, &numbers)
        try file(3, &sender)
        try file(4, &refusal)
        try file(5, &bodyCount)
    }
}
