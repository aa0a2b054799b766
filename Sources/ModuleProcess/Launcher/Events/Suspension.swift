/// How far an app is suspended: it is told first, and halted when its modules
/// have answered.
///
/// A value without I/O. Each `resume` follows one `suspend`.
struct Suspension {
    enum Action: Equatable {
        case nothing
        /// Emit `app.suspend`; `answered` must follow, with this number.
        case suspend(Int)
        /// The modules know: the launcher may halt.
        case halt
        /// Emit `app.resume`.
        case resume
    }

    private enum State: Equatable { case awake, telling, suspended }

    private var state = State.awake
    private var number = 0

    /// Somebody wants it suspended; twice is at once.
    mutating func ordered() -> Action {
        switch state {
        case .awake:
            state = .telling
            number += 1
            return .suspend(number)
        case .telling, .suspended:
            state = .suspended
            return .halt
        }
    }

    /// The modules have answered, or can't.
    mutating func answered(_ number: Int) -> Action {
        guard state == .telling, number == self.number else { return .nothing }
        state = .suspended
        return .halt
    }

    /// Somebody wants it to go on.
    mutating func continued() -> Action {
        guard state != .awake else { return .nothing }
        state = .awake
        return .resume
    }
}
