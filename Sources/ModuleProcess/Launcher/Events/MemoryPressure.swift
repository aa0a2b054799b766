import StrataCore

/// When pressure becomes an event, and what the event says.
///
/// A value without I/O; `now` in milliseconds.
struct MemoryPressure {
    /// From one event to the next, at least.
    static let interval: UInt64 = 10_000

    private var lastAt: UInt64?
    private var isOpen = false

    /// The file says that there is pressure.
    /// - Returns: whether it is to be emitted: not soon after the last one, and
    ///   not while that one is still being answered.
    mutating func came(at now: UInt64) -> Bool {
        guard !isOpen, lastAt.map({ now - $0 >= Self.interval }) ?? true else { return false }
        lastAt = now
        isOpen = true
        return true
    }

    /// The modules have answered.
    mutating func answered() { isOpen = false }

    /// The event's params: `{"level", "avg10", "avg60", "avg300"}`, the last
    /// three in percent of the last so many seconds, where the file tells them.
    /// - Parameter text: what the pressure file says.
    static func params(_ level: String, _ text: String) -> JSON {
        var members: [JSON.Member] = [.init("level", .string(level))]
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(level) ") } ?? ""
        for word in line.split(separator: " ") {
            let parts = word.split(separator: "=")
            guard parts.count == 2, parts[0].hasPrefix("avg"), let percent = Double(parts[1]), percent.isFinite else {
                continue
            }
            members.append(.init(String(parts[0]), .number(percent)))
        }
        return .object(members)
    }
}

/// Which file tells of memory pressure, and what to ask it for.
///
/// As in systemd's memory pressure protocol: a service manager, or a person,
/// names another file in `MEMORY_PRESSURE_WATCH`, such as that of the service's
/// control group; `/dev/null` is none.
struct PressureSource: Equatable {
    var path: String
    /// As the kernel reads it; see its documentation of PSI.
    var trigger: [UInt8]

    /// The whole system's: some task stalled for 200 ms within 2 s, which is what
    /// systemd asks for; the kernel lets everyone ask for times of whole 2 s.
    static let standard = PressureSource(path: "/proc/pressure/memory", trigger: Array("some 200000 2000000".utf8))

    init(path: String, trigger: [UInt8]) {
        self.path = path
        self.trigger = trigger
    }

    /// Nil where nothing is to be watched. A trigger that is no base64 is the
    /// standard one.
    init?(_ environment: [String: String]) {
        self = Self.standard
        guard let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty else { return }
        guard path != "/dev/null" else { return nil }
        self.path = path
        if let text = environment["MEMORY_PRESSURE_WRITE"], let bytes = Self.base64(text), !bytes.isEmpty {
            trigger = bytes
        }
    }

    /// `some` or `full`: how many tasks stall.
    var level: String { trigger.starts(with: Array("full".utf8)) ? "full" : "some" }

    /// Nil where the text is no base64.
    static func base64(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, Int) = (0, 0)
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.dropFirst(digits.count)
        guard text.utf8.count % 4 == 0, padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            return nil
        }
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit + 4
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}

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
