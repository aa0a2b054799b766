import StrataCore

/// How much of a broker is written down, and what several of its parts refer to.
struct CaptureScope: ~Copyable {
    /// Of each list a trial gets so many elements: it judges the format, and what it costs
    /// the bus doesn't grow with what waits.
    static let sampled = 64

    /// Of each list so many elements.
    let most: Int
    var payloads = PayloadList()
    private(set) var emissions: [Emission] = []
    private var places: [ObjectIdentifier: Int] = [:]

    private init(most: Int) { self.most = most }

    /// All that there is.
    static var whole: CaptureScope { CaptureScope(most: .max) }
    /// The first elements of each list, without what waits in queues.
    static var sample: CaptureScope { CaptureScope(most: sampled) }

    var isWhole: Bool { most == .max }

    func some<Elements: Collection>(_ elements: Elements) -> Elements.SubSequence { elements.prefix(most) }

    /// An event's place among the state's; it is added where it has none.
    mutating func place(of emission: Emission) -> Int {
        let place = places[ObjectIdentifier(emission), default: emissions.count]
        if place == emissions.count {
            places[ObjectIdentifier(emission)] = place
            emissions.append(emission)
        }
        return place
    }
}
