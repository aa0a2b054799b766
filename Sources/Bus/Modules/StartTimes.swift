/// When the steps of a module's last start happened.
///
/// A value without a clock: each mark is given the time. What lies between two
/// marks is measured on a clock that only goes forward; the first one is kept on
/// the wall's clock too, for people and for other processes.
struct StartTimes: Equatable, StatePart {
    /// What is noted, in the order in which it happens.
    enum Mark: Int, CaseIterable {
        /// The launcher started its process.
        case spawned
        /// Its hello was taken.
        case connected
        /// `module/setUp` was called.
        case setUpBegun
        case setUpEnded
        case initializeBegun
        case initializeEnded
        case ready
        /// Its process or its session ended before it was ready.
        case ended
    }

    /// A clock that only goes forward, and the wall's: microseconds each.
    struct Moment: Equatable, StatePart {
        var steady: UInt64 = 0
        /// Since 1970.
        var wall: UInt64 = 0

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &steady)
            try file(2, &wall)
        }
    }

    /// The first mark's.
    private(set) var begin: Moment?
    /// By mark, on the clock that only goes forward; 0 where it hasn't happened.
    private(set) var marks = [UInt64](repeating: 0, count: Mark.allCases.count)
    /// The process had done its start before this bus knew it: it resumed.
    private(set) var isResumed = false

    init() {}

    /// A start that begins with its process.
    /// - Parameters:
    ///   - spawnedAt: microseconds since 1970, as the launcher said.
    ///   - now: when it said so.
    init(spawnedAt: UInt64, now: Moment) {
        let age = now.wall - min(now.wall, spawnedAt)
        note(.spawned, at: Moment(steady: now.steady - min(now.steady, age), wall: spawnedAt))
    }

    /// A process that resumed, of whose start nothing is known.
    init(resumedAt now: Moment) {
        isResumed = true
        note(.connected, at: now)
        note(.ready, at: now)
    }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &begin)
        try file(2, &marks)
        try file(3, &isResumed)
        // Another build may have other marks at the end.
        marks = Array((marks + StartTimes().marks).prefix(Mark.allCases.count))
    }

    /// Keeps when something happened; a second time changes nothing.
    mutating func note(_ mark: Mark, at now: Moment) {
        guard !has(mark) else { return }
        // 0 says that it hasn't happened.
        let steady = max(1, now.steady)
        if begin == nil { begin = Moment(steady: steady, wall: now.wall) }
        marks[mark.rawValue] = steady
    }

    func has(_ mark: Mark) -> Bool { marks[mark.rawValue] != 0 }

    /// When it happened, in microseconds since 1970; nil where it hasn't.
    func wall(_ mark: Mark) -> UInt64? {
        guard let begin, has(mark) else { return nil }
        return begin.wall + marks[mark.rawValue] - min(begin.steady, marks[mark.rawValue])
    }

    /// What lies between two marks, in microseconds; nil where one hasn't happened.
    func between(_ one: Mark, _ other: Mark) -> UInt64? {
        guard has(one), has(other) else { return nil }
        return marks[other.rawValue] - min(marks[one.rawValue], marks[other.rawValue])
    }

    /// Whether it is the start of a process that the launcher started then.
    func isOf(spawnedAt: UInt64) -> Bool { wall(.spawned) == spawnedAt }
}
