/// The numbers by which two brokers agree since when one of them knows what the other's modules observe.
///
/// An observation ends and another one of the name begins, while a broadcast of another node is on its way. The new
/// observer would get it. It would not get the next one, if the other node sent that after it had read of the end and
/// before it read of the new beginning. So an observer gets a node's notices only from when the node knows of it.
struct SubscriptionNumbers {
    /// The number of what was told last.
    private(set) var last: UInt64 = 0
    /// The number under which the nodes were last told that a name has observers, or later ones than before.
    private var raised: [ObservedName: UInt64] = [:]

    /// Returns the number of an observation that begins now.
    /// - Parameters:
    ///   - names: the names of the broadcasts that it is of.
    ///   - rank: its observer's rank.
    ///   - observed: what the nodes were told so far.
    func number(_ names: [ObservedName], rank: Int, _ observed: [ObservedName: Int]) -> UInt64 {
        var number: UInt64 = 0
        for name in names {
            guard let latest = observed[name], latest >= rank else { return last + 1 }
            number = max(number, raised[name] ?? 0)
        }
        return number
    }

    /// Notes what the nodes are told now.
    /// - Returns: whether more is observed than before, so that they must be told the number too.
    mutating func tell(_ old: [ObservedName: Int], _ new: [ObservedName: Int], _ names: [ObservedName]) -> Bool {
        let more = names.filter { name in new[name].map { $0 > old[name] ?? -1 } ?? false }
        for name in names where new[name] == nil { raised[name] = nil }
        guard !more.isEmpty else { return false }
        last += 1
        for name in more { raised[name] = last }
        return true
    }
}
