public import StrataCore

/// The durations of an app's start and of each module's start, from the answer of `bus/timeline`.
/// Times are microseconds since 1970.
public struct StartTimeline: Sendable, Equatable {
    /// A part of a start.
    public enum Phase: String, Sendable, CaseIterable {
        /// From the start of its process to its hello.
        case connect
        /// It waits for other modules whose turn comes first.
        case waiting
        case setUp
        case initialize
    }

    /// The time during which a part of a start lasted.
    public struct Span: Sendable, Equatable {
        public var phase: Phase
        public var from: Int64
        public var to: Int64
        /// Whether it was cut short, because the process or its session ended.
        public var isCut = false

        public var microseconds: Int64 { to - from }
    }

    /// A point that a module has named itself.
    public struct Mark: Sendable, Equatable {
        public var name: String
        public var at: Int64
    }

    /// A module's last start.
    public struct Row: Sendable, Equatable {
        public var name: String
        public var level: String
        /// The manifest's `start`; `guest` for a module without a row.
        public var start: String
        public var state: String
        public var reason: String
        public var spans: [Span] = []
        /// The first known time; nil if the module has not been started.
        public var begun: Int64?
        public var connected: Int64?
        public var ready: Int64?
        /// When it ended without having been ready.
        public var ended: Int64?
        /// Whether it had started before this broker knew it.
        public var isResumed: Bool
        /// Its own marks, in their order.
        public var marks: [Mark] = []

        /// Returns how long after its beginning it made a mark, in microseconds.
        public func microseconds(to mark: Mark) -> Int64 { max(0, mark.at - (begun ?? mark.at)) }

        /// The time that it took itself, without waiting for other modules.
        public var own: Int64 { spans.reduce(0) { $0 + ($1.phase == .waiting ? 0 : $1.microseconds) } }

        public func microseconds(_ phase: Phase) -> Int64? {
            let found = spans.filter { $0.phase == phase && !$0.isCut }
            return found.isEmpty ? nil : found.reduce(0) { $0 + $1.microseconds }
        }
    }

    public var app: String
    /// When the app's start began, which is when the launcher connected.
    public var begun: Int64?
    /// When no module had to be waited for any more.
    public var ready: Int64?
    /// The modules in start order.
    public var rows: [Row]

    /// - Parameter answer: the answer of `bus/timeline`.
    public init(_ answer: JSON) {
        app = answer["app"]?["name"]?.string ?? ""
        begun = answer["app"]?["begun"]?.integer
        ready = answer["app"]?["ready"]?.integer
        rows = (answer["modules"]?.array ?? []).map(Row.init)
    }

    /// Whether a module was started after the app was ready, on demand or again. It is then shown
    /// from its own beginning.
    public func isLate(_ row: Row) -> Bool {
        guard let ready, let begun = row.begun else { return false }
        return begun > ready
    }

    /// The first and the last time of the app's start.
    public var range: ClosedRange<Int64> {
        let times = rows.filter { !isLate($0) && !$0.isResumed }
            .flatMap { row in row.spans.flatMap { [$0.from, $0.to] } + [row.begun].compactMap { $0 } }
        let all = times + [begun, ready].compactMap { $0 }
        guard let first = all.min(), let last = all.max() else { return 0...1 }
        return first...max(last, first + 1)
    }
}

extension StartTimeline.Row {
    init(_ json: JSON) {
        name = json["name"]?.string ?? "?"
        level = json["level"]?.string ?? ""
        start = json["start"]?.string ?? ""
        state = json["state"]?.string ?? ""
        reason = json["reason"]?.string ?? ""
        isResumed = json["resumed"]?.bool ?? false
        func time(_ name: String) -> Int64? { json[name]?.integer }
        connected = time("connected")
        ready = time("ready")
        ended = time("ended")
        begun = time("spawned") ?? connected
        marks = (json["marks"]?.array ?? []).compactMap { mark in
            guard let name = mark["name"]?.string, let at = mark["at"]?.integer else { return nil }
            return .init(name: name, at: at)
        }
        guard !isResumed else { return }
        let steps: [(StartTimeline.Phase, from: Int64?, to: Int64?)] = [
            (.connect, time("spawned"), connected), (.waiting, connected, time("setUpBegun")),
            (.setUp, time("setUpBegun"), time("setUpEnded")),
            (.waiting, time("setUpEnded"), time("initializeBegun")),
            (.initialize, time("initializeBegun"), time("initializeEnded")),
        ]
        for (phase, from, to) in steps {
            guard let from else { continue }
            if let to, to >= from {
                spans.append(.init(phase: phase, from: from, to: to))
            } else if let ended, ended >= from {
                spans.append(.init(phase: phase, from: from, to: ended, isCut: true))
            }
        }
    }
}
