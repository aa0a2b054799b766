/// `StartTimes`.
struct StartTimesState: StatePart {
    /// The first mark's time; 0 for none.
    var steady: UInt64 = 0
    var wall: UInt64 = 0
    var marks: [UInt64] = []
    var isResumed = false

    init() {}

    init(_ times: StartTimes) {
        steady = times.begin?.steady ?? 0
        wall = times.begin?.wall ?? 0
        marks = times.marks
        isResumed = times.isResumed
    }

    func times() throws(StateError) -> StartTimes {
        let begin = wall == 0 ? nil : StartTimes.Moment(steady: steady, wall: wall)
        guard let times = StartTimes(begin: begin, marks: marks, isResumed: isResumed) else {
            throw StateError("a module's start has \(marks.count) times")
        }
        return times
    }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&steady)
        try file(&wall)
        try file(&marks)
        try file(&isResumed)
    }
}
