/// To which modules of its own level one has reported: `bus/levels` tells of them.
struct SeenReports {
    /// So many are kept apart; further ones aren't.
    static let most = 16

    /// In the order of their first reports.
    private(set) var names: [String] = []
    /// Of the records that they were then: a guest that comes again has another.
    private var numbers: [Int] = []

    init() {}

    /// Goes on with those that another program has seen.
    init(_ names: [String]) {
        self.names = names
        // The records are others; the next report of each says which.
        numbers = names.map { _ in -1 }
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
