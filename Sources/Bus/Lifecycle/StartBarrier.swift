/// The barrier at the app's start: which eager modules may take their next
/// step. Rows equal in level and priority are a group; groups take turns.
///
/// A value without clock or I/O. Members are numbers of the table's rows.
struct StartBarrier {
    enum Progress: UInt8 {
        /// Its `setUp` has not been answered.
        case starting
        /// Its `setUp` has been answered.
        case setUp
        case initialized
        /// Failed, or took too long: nobody waits for it.
        case left
    }

    /// In start order.
    private(set) var groups: [[Int]]
    private(set) var progress: [Int: Progress] = [:]
    private(set) var hasBegun = false

    /// - Parameter groups: the eager rows in start order, equals together.
    init(groups: [[Int]]) {
        self.groups = groups
        for member in groups.joined() { progress[member] = .starting }
    }

    /// Which turn it is; changes exactly when the time that a group has begins
    /// anew.
    enum Turn: Equatable {
        case notBegun
        case setUp(group: Int)
        case initialize(group: Int)
        case over
    }

    var turn: Turn {
        guard hasBegun else { return groups.isEmpty ? .over : .notBegun }
        for (index, group) in groups.enumerated() where group.contains(where: { progress[$0] == .starting }) {
            return .setUp(group: index)
        }
        for (index, group) in groups.enumerated() where group.contains(where: { progress[$0] == .setUp }) {
            return .initialize(group: index)
        }
        return .over
    }

    /// The launcher is there: the first group's time runs.
    mutating func begin() { hasBegun = true }

    mutating func didSetUp(_ member: Int) {
        if progress[member] == .starting { progress[member] = .setUp }
    }

    mutating func didInitialize(_ member: Int) {
        if progress[member] == .setUp || progress[member] == .starting { progress[member] = .initialized }
    }

    /// Its process died before it was ready, and will come again.
    mutating func begins(again member: Int) {
        if progress[member] == .setUp, turn != .over { progress[member] = .starting }
    }

    mutating func leave(_ member: Int) {
        if let now = progress[member], now != .initialized { progress[member] = .left }
    }

    /// The time of the present turn has passed: who held it up leaves.
    @discardableResult
    mutating func turnTimedOut() -> [Int] {
        let late: [Int]
        switch turn {
        case .setUp(let group): late = groups[group].filter { progress[$0] == .starting }
        case .initialize(let group): late = groups[group].filter { progress[$0] == .setUp }
        case .notBegun, .over: late = []
        }
        for member in late { progress[member] = .left }
        return late
    }

    func maySetUp(_ member: Int) -> Bool {
        switch (progress[member], turn) {
        case (nil, _), (.left, _), (_, .over), (_, .initialize): true
        case (_, .notBegun): false
        case (_, .setUp(let group)): groups[...group].joined().contains(member)
        }
    }

    func mayInitialize(_ member: Int) -> Bool {
        switch (progress[member], turn) {
        case (nil, _), (.left, _), (_, .over): true
        case (_, .notBegun), (_, .setUp): false
        case (_, .initialize(let group)): groups[...group].joined().contains(member)
        }
    }

    func mayDidStart(_ member: Int) -> Bool {
        guard let now = progress[member], now != .left else { return true }
        return turn == .over
    }
}

extension StartBarrier: StatePart {
    init() { self.init(groups: []) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        var steps = groups.map { $0.map { (progress[$0] ?? .left).rawValue } }
        try file(1, &groups)
        try file(2, &steps)
        try file(3, &hasBegun)
        guard file.isReading else { return }
        for (member, step) in zip(groups.joined(), steps.joined()) {
            progress[member] = Progress(rawValue: step) ?? .left
        }
    }
}

/// The app's start: whose turn it is, and when it began and ended.
struct AppStart {
    private(set) var order: StartBarrier
    /// `spawned` and `ready`.
    private(set) var times = StartTimes()
    /// The turn whose time runs.
    private var timedTurn = StartBarrier.Turn.notBegun

    init(_ order: StartBarrier) { self.order = order }

    mutating func note(_ mark: StartTimes.Mark, at moment: StartTimes.Moment) { times.note(mark, at: moment) }

    // MARK: The order, which rows change

    mutating func begin() { order.begin() }
    mutating func didSetUp(_ member: Int) { order.didSetUp(member) }
    mutating func didInitialize(_ member: Int) { order.didInitialize(member) }
    mutating func begins(again member: Int) { order.begins(again: member) }
    mutating func leave(_ member: Int) { order.leave(member) }
    mutating func turnTimedOut() { order.turnTimedOut() }

    /// The turn, where it is another one than when this was asked last.
    mutating func takeTurnChange() -> StartBarrier.Turn? {
        let turn = order.turn
        guard turn != timedTurn else { return nil }
        timedTurn = turn
        return turn
    }

    /// The time of the present turn runs already.
    mutating func resumeTurn() { timedTurn = order.turn }
}

extension AppStart: StatePart {
    init() { self.init(StartBarrier()) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &order)
        try file(2, &times)
    }
}
