/// The times of the steps of a module's last start.
///
/// A value without a clock: each mark is given its time. The time between two marks is measured on
/// the steady clock, which never goes back. The first mark also has the wall clock's time, for
/// people and for other processes.
struct StartTimes: Equatable, StatePart {
    /// The steps whose times are noted, in the order in which they happen.
    enum Mark: Int, CaseIterable {
        /// The launcher started its process.
        case spawned
        /// Its hello was accepted.
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

    /// A time on the steady clock and on the wall clock, in microseconds.
    struct Moment: Equatable, StatePart {
        var steady: UInt64 = 0
        /// Microseconds since 1970.
        var wall: UInt64 = 0

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &steady)
            try file(2, &wall)
        }
    }

    /// A point of its start that the module itself names, as BeeHive's `-recordEventTime:` does.
    struct OwnMark: Equatable, StatePart {
        var name = ""
        /// The time on the steady clock, in microseconds.
        var steady: UInt64 = 0

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &name)
            try file(2, &steady)
        }
    }

    /// The most marks of its own that a module may make in one start.
    static let mostOwnMarks = 64

    /// The time of the first mark.
    private(set) var begin: Moment?
    /// The times of the marks on the steady clock; 0 for a mark that hasn't happened.
    private(set) var marks = [UInt64](repeating: 0, count: Mark.allCases.count)
    /// Whether the process resumed: its start was done before this bus knew it.
    private(set) var isResumed = false
    /// The module's own marks, in the order in which it made them.
    private(set) var ownMarks: [OwnMark] = []

    init() {}

    /// Begins with the start of a process.
    /// - Parameters:
    ///   - spawnedAt: when the process started, in microseconds since 1970, as the launcher
    ///     reported it.
    ///   - now: when the launcher reported it.
    init(spawnedAt: UInt64, now: Moment) {
        let age = now.wall - min(now.wall, spawnedAt)
        note(.spawned, at: Moment(steady: now.steady - min(now.steady, age), wall: spawnedAt))
    }

    /// Begins with a process that resumed, and of whose start nothing is known.
    init(resumedAt now: Moment) {
        isResumed = true
        note(.connected, at: now)
        note(.ready, at: now)
    }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &begin)
        try file(2, &marks)
        try file(3, &isResumed)
        try file(4, &ownMarks)
        // Another build may have more or fewer marks at the end.
        marks = Array((marks + StartTimes().marks).prefix(Mark.allCases.count))
    }

    /// Notes the time of a mark; a second time changes nothing.
    mutating func note(_ mark: Mark, at now: Moment) {
        guard !has(mark) else { return }
        // 0 means that the mark hasn't happened.
        let steady = max(1, now.steady)
        if begin == nil { begin = Moment(steady: steady, wall: now.wall) }
        marks[mark.rawValue] = steady
    }

    /// Notes a mark of the module's own.
    /// - Returns: false if it has made too many.
    mutating func note(own name: String, at now: Moment) -> Bool {
        guard ownMarks.count < Self.mostOwnMarks else { return false }
        if begin == nil { begin = Moment(steady: now.steady, wall: now.wall) }
        ownMarks.append(OwnMark(name: name, steady: now.steady))
        return true
    }

    func has(_ mark: Mark) -> Bool { marks[mark.rawValue] != 0 }

    /// Returns when a mark happened, in microseconds since 1970; nil if it hasn't.
    func wall(_ mark: Mark) -> UInt64? {
        has(mark) ? wall(marks[mark.rawValue]) : nil
    }

    /// Returns when the module made a mark of its own, in microseconds since 1970.
    func wall(_ mark: OwnMark) -> UInt64 { wall(mark.steady) ?? 0 }

    private func wall(_ steady: UInt64) -> UInt64? {
        begin.map { $0.wall + steady - min($0.steady, steady) }
    }

    /// Returns the microseconds between two marks; nil if one hasn't happened.
    func between(_ one: Mark, _ other: Mark) -> UInt64? {
        guard has(one), has(other) else { return nil }
        return marks[other.rawValue] - min(marks[one.rawValue], marks[other.rawValue])
    }

    /// Whether this is the start of the process that the launcher started at that time.
    func isOf(spawnedAt: UInt64) -> Bool { wall(.spawned) == spawnedAt }
}
