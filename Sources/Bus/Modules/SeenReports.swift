/// To which modules of its own level one has reported: `bus/levels` tells of them.
struct SeenReports: StatePart {
    /// So many are kept apart; further ones aren't.
    static let most = 16

    /// In the order of their first reports.
    private(set) var names: [String] = []
    /// Of the records that they were then: a guest that comes again has another.
    private var numbers: [Int] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &names)
        // In the next program the records are others; the next report of each says which.
        if file.isReading { numbers = names.map { _ in -1 } }
    }

    mutating func note(_ target: ModuleRecord) {
        guard !numbers.contains(target.number) else { return }
        if let place = names.firstIndex(of: target.name) {
            numbers[place] = target.number
        } else if names.count < Self.most {
            names.append(target.name)
            numbers.append(target.number)
        }
    }
}
