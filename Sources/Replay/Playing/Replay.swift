import StrataConformance
import StrataCore
import StrataOperator

/// Runs a module alone on what it was sent in a recording, and compares what it does.
public struct Replay {
    /// What the person is told while it goes.
    public struct Story {
        /// A process begins: its number, and how many the recording has.
        public var onStart: (Int, Int) -> Void = { _, _ in }
        public var onDifference: (Difference) -> Void = { _ in }
        /// A process ended by itself: how, what it was doing, and the last lines that it wrote.
        public var onEnd: (_ how: String, _ wasExpected: Bool, _ doing: [String], _ lines: [String]) -> Void = {
            _, _, _, _ in
        }
        /// A frame, as a line; nil if frames aren't shown.
        public var onFrame: ((String) -> Void)?

        public init() {}
    }

    /// Why the module can't be played.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let recording: ModuleRecording
    private let plan: ReplayPlan
    private let story: Story

    public init(_ recording: ModuleRecording, _ plan: ReplayPlan, _ story: Story) {
        (self.recording, self.plan, self.story) = (recording, plan, story)
    }

    /// How long a process has to connect, even if a step has less: a debugger may load much before.
    private static let leastStart = Duration.seconds(30)

    /// Plays the recording. Blocks; takes over SIGINT and SIGTERM of this thread.
    public func run() throws(Failure) -> ReplayCount {
        var count = ReplayCount()
        do throws(ConformanceError) {
            let place = try KitPlace()
            for (index, life) in recording.lives.enumerated() {
                story.onStart(index + 1, recording.lives.count)
                try play(life, place, &count)
            }
        } catch { throw Failure(description: error.description) }
        return count
    }

    private func play(_ life: RecordedLife, _ place: KitPlace, _ count: inout ReplayCount) throws(ConformanceError) {
        let environment = plan.environment.merging(
            [
                "STRATA_SOCKET": place.path, "STRATA_MODULE": plan.module, "STRATA_TOKEN": "replay",
                "STRATA_ENV": plan.env,
            ]) { $1 }
        let program = try ProbeProgram(plan.words, environment, in: plan.folder)
        defer {
            program.kill()
            place.dropWaiting()
        }
        count.starts += 1
        do throws(Finding) {
            let limit = Moment(after: max(plan.patience, Self.leastStart))
            guard let connection = try place.accept(from: program, until: limit) else {
                throw Finding("the module doesn't connect")
            }
            let session = PlayedSession(
                connection, program, place, patience: plan.patience, show: story.onFrame)
            let played = PlayedLife(life, plan, session, count, tell: story.onDifference)
            try played.start()
            try played.play()
            count = played.count
            try end(life, played, session, &count)
        } catch {
            guard !error.isInterruption else { throw ConformanceError(error.message) }
            program.readOutput()
            let end = program.end.map { "; its process ended: \($0)" } ?? ""
            let said = Self.lines(program).map { "\n    \($0)" }.joined()
            throw ConformanceError("\(error.message)\(end)\(said.isEmpty ? "" : "\nit wrote:\(said)")")
        }
    }

    /// Compares the ends of a process.
    private func end(
        _ life: RecordedLife, _ played: PlayedLife, _ session: PlayedSession, _ count: inout ReplayCount
    ) throws(Finding) {
        guard !session.isOver else {
            let end = try session.waitForEnd()
            session.program.readOutput()
            let how = end.map { "\($0)" } ?? "it closed the connection or does not read, and goes on"
            let wasExpected = life.isToEnd && played.hasDoneAll
            let doing = played.open.map { "\($0.to)\($0.body.map { $0 == .null ? "" : " \($0)" } ?? "")" }
            if !wasExpected { count.differences += 1 }
            return story.onEnd(how, wasExpected, doing, Self.lines(session.program))
        }
        if let reason = life.end {
            count.differences += 1
            story.onDifference(
                Difference(
                    kind: .end, at: life.steps.last?.at ?? 0, what: "the process", recorded: "ended: \(reason)",
                    replayed: "goes on"))
        }
        try session.shutDown()
        _ = try session.waitForEnd()
    }

    /// The last lines that a program wrote.
    private static func lines(_ program: ProbeProgram) -> [String] {
        (program.output + [UInt8(ascii: "\n")] + program.errors).split(separator: UInt8(ascii: "\n")).suffix(20)
            .map { Printable.output(String(decoding: Severity.split(Array($0)).text.prefix(512), as: UTF8.self)) }
    }
}
