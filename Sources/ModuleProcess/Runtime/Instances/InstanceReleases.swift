/// The instances whose last reference is gone, and that the broker isn't told of yet.
/// It is told of one at a time, so that they never take more than one of this
/// module's open requests; there are never more than instances that it may have.
struct InstanceReleases {
    private var names: [String] = []
    /// Whether the broker has still to answer about one.
    private var isAsking = false

    var isEmpty: Bool { names.isEmpty }
    var count: Int { names.count }

    mutating func add(_ name: String) { names.append(name) }

    /// The one that the broker is to be told of now; `asked` follows where it could be.
    var next: String? { isAsking ? nil : names.last }

    mutating func asked() {
        isAsking = true
        names.removeLast()
    }

    mutating func answered() { isAsking = false }

    /// Instances end with their connection.
    mutating func connectionLost() { names = [] }
}
