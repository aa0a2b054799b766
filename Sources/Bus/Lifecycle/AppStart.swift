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
