import StrataCore

/// Decides when memory pressure becomes an event, and makes the event's params.
///
/// A value without I/O; `now` is in milliseconds.
struct MemoryPressure {
    /// The shortest time between two events.
    static let interval: UInt64 = 10_000

    private var lastAt: UInt64?
    private var isOpen = false

    /// Notes that the file reports pressure.
    /// - Returns: Whether to emit an event. There is none soon after the last one, nor while that
    ///   one is still being answered.
    mutating func came(at now: UInt64) -> Bool {
        guard !isOpen, lastAt.map({ now - $0 >= Self.interval }) ?? true else { return false }
        lastAt = now
        isOpen = true
        return true
    }

    /// The modules have answered.
    mutating func answered() { isOpen = false }

    /// Returns the event's params: `{"level", "avg10", "avg60", "avg300"}`. The last three are
    /// percentages over the last 10, 60 and 300 s, if the file contains them.
    /// - Parameter text: The content of the pressure file.
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

/// The file that reports memory pressure, and the trigger to write to it.
///
/// It follows systemd's memory pressure protocol. A service manager or a person can name another
/// file in `MEMORY_PRESSURE_WATCH`, such as the one of the service's control group. `/dev/null`
/// turns the watch off.
struct PressureSource: Equatable {
    var path: String
    /// The trigger in the kernel's format, which its PSI documentation describes.
    var trigger: [UInt8]

    /// The file of the whole system, for any task that stalls for 200 ms within 2 s. That is
    /// systemd's default. Without privileges, the kernel allows windows of whole multiples of 2 s
    /// only.
    static let standard = PressureSource(path: "/proc/pressure/memory", trigger: Array("some 200000 2000000".utf8))

    init(path: String, trigger: [UInt8]) {
        self.path = path
        self.trigger = trigger
    }

    /// Reads the environment; nil if nothing is to be watched. A trigger that isn't base64 is
    /// replaced by the standard one.
    init?(_ environment: [String: String]) {
        self = Self.standard
        guard let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty else { return }
        guard path != "/dev/null" else { return nil }
        self.path = path
        if let text = environment["MEMORY_PRESSURE_WRITE"], let bytes = Self.base64(text), !bytes.isEmpty {
            trigger = bytes
        }
    }

    /// `some` or `full`, for stalls of some or of all tasks.
    var level: String { trigger.starts(with: Array("full".utf8)) ? "full" : "some" }

    /// Decodes base64; nil if the text isn't base64.
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

/// The suspension of an app. The modules are told first, and the launcher halts when they have
/// answered.
///
/// A value without I/O. Each `resume` follows one `suspend`.
struct Suspension {
    enum Action: Equatable {
        case nothing
        /// Emit `app.suspend`; `answered` must follow with this number.
        case suspend(Int)
        /// The modules have been told: the launcher may halt.
        case halt
        /// Emit `app.resume`.
        case resume
    }

    private enum State: Equatable { case awake, telling, suspended }

    private var state = State.awake
    private var number = 0

    /// Handles a request to suspend. A second request halts at once.
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

    /// Handles a request to continue.
    mutating func continued() -> Action {
        guard state != .awake else { return .nothing }
        state = .awake
        return .resume
    }
}
