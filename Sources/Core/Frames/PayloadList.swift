/// The payloads that a broker's state refers to: each stands in it once, however many
/// connections it waits for.
public struct PayloadList: ~Copyable {
    public private(set) var payloads: [Payload] = []

    public init() {}

    deinit { for payload in payloads { payload.place = nil } }

    /// A payload's place in the list; it is added where it has none.
    public mutating func place(of payload: Payload) -> Int {
        if let place = payload.place { return place }
        let place = payloads.count
        payload.place = place
        payloads.append(payload)
        return place
    }
}
