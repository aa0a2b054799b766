/// The barrier at the app's start: it decides which eager modules may take their next step. Rows of
/// equal level and priority form a group, and the groups take turns.
///
/// A value without clock or I/O. Members are numbers of the table's rows.
struct StartBarrier {
    enum Progress: UInt8 {
        /// Its `setUp` hasn't been answered.
        case starting
        /// Its `setUp` has been answered.
        case setUp
        case initialized
        /// Its start failed or took too long, so the others don't wait for it.
        case left
    }

    /// The groups, in start order.
    private(set) var groups: [[Int]]
    private(set) var progress: [Int: Progress] = [:]
    private(set) var hasBegun = false

    /// - Parameter groups: the eager rows in start order, with equal rows in one group.
    init(groups: [[Int]]) {
        self.groups = groups
        for member in groups.joined() { progress[member] = .starting }
    }

    /// A step of one group. It changes exactly when a new time limit begins.
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
        // The first group initializes when all groups have done setUp.
        for (index, group) in groups.enumerated() where group.contains(where: { progress[$0] == .setUp }) {
            return .initialize(group: index)
        }
        return .over
    }

    /// Begins the first group's time, because the launcher is connected.
    mutating func begin() { hasBegun = true }

    mutating func didSetUp(_ member: Int) {
        if progress[member] == .starting { progress[member] = .setUp }
    }

    mutating func didInitialize(_ member: Int) {
        // A module that resumed goes straight from `starting` to `initialized`.
        if progress[member] == .setUp || progress[member] == .starting { progress[member] = .initialized }
    }

    /// Notes that the member's session ended before it was ready, and that the others wait for the
    /// next one.
    mutating func begins(again member: Int) {
        // After the app's start, a module that restarts holds up no turn.
        if progress[member] == .setUp, turn != .over { progress[member] = .starting }
    }

    mutating func leave(_ member: Int) {
        if let now = progress[member], now != .initialized { progress[member] = .left }
    }

    /// Ends the current turn, because its time has passed. The members that held it up leave, except
    /// those that the others have to wait for.
    @discardableResult
    mutating func turnTimedOut(isRequired: (Int) -> Bool = { _ in false }) -> [Int] {
        var late: [Int]
        switch turn {
        case .setUp(let group): late = groups[group].filter { progress[$0] == .starting }
        case .initialize(let group): late = groups[group].filter { progress[$0] == .setUp }
        case .notBegun, .over: late = []
        }
        late.removeAll(where: isRequired)
        for member in late { progress[member] = .left }
        return late
    }

    func maySetUp(_ member: Int) -> Bool {
        switch (progress[member], turn) {
        // A module that isn't eager, or that has left, waits for no turn.
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

/// The app's start: the current turn, and when the start began and ended.
struct AppStart {
    private(set) var order: StartBarrier
    /// The marks `spawned` and `ready` of the whole app.
    private(set) var times = StartTimes()
    /// The turn whose time is running.
    private var timedTurn = StartBarrier.Turn.notBegun

    init(_ order: StartBarrier) { self.order = order }

    mutating func note(_ mark: StartTimes.Mark, at moment: StartTimes.Moment) { times.note(mark, at: moment) }

    // MARK: The order, as modules progress

    mutating func begin() { order.begin() }
    mutating func didSetUp(_ member: Int) { order.didSetUp(member) }
    mutating func didInitialize(_ member: Int) { order.didInitialize(member) }
    mutating func begins(again member: Int) { order.begins(again: member) }
    mutating func leave(_ member: Int) { order.leave(member) }
    mutating func turnTimedOut(isRequired: (Int) -> Bool) { order.turnTimedOut(isRequired: isRequired) }

    /// Returns the turn if it has changed since the last call; else nil.
    mutating func takeTurnChange() -> StartBarrier.Turn? {
        let turn = order.turn
        guard turn != timedTurn else { return nil }
        timedTurn = turn
        return turn
    }

    /// Notes that the time of the current turn is already running.
    mutating func resumeTurn() { timedTurn = order.turn }
}

extension AppStart: StatePart {
    init() { self.init(StartBarrier()) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &order)
        try file(2, &times)
    }
}
