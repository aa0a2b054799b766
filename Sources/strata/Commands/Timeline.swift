import ArgumentParser
import StrataCore
import StrataPictures

/// `strata timeline`: shows how long each module took to start.
struct Timeline: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows how long each module took to start, phase by phase.",
        discussion: """
            EXAMPLE
              strata timeline
              strata timeline --svg start.svg
              strata timeline --trace start.json        for ui.perfetto.dev or chrome://tracing

            The times are of each module's last start. CONNECT is from the start of its process \
            to its hello, SETUP and INIT are its answers to setUp and initialize, and READY is \
            the whole start, including the wait for other modules. The last lines say when the \
            app was ready, which module itself took longest, and the critical path: shortening \
            any other step would not have helped.
            """)

    @Option(help: ArgumentHelp("Writes an SVG picture there; - is stdout.", valueName: "file"), completion: .file())
    var svg: String?

    @Option(
        help: ArgumentHelp("Writes Chrome's trace events there; - is stdout.", valueName: "file"), completion: .file())
    var trace: String?

    @OptionGroup var picture: PictureOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func validate() throws {
        if svg == "-", trace == "-" { throw ValidationError("Only one of --svg and --trace can be stdout.") }
    }

    func run() throws {
        let answer = try bus.connect().ask("bus/timeline")
        let timeline = StartTimeline(answer)
        if let svg { try picture.write(TimelineSVG.text(of: timeline, theme: picture.theme), to: svg) }
        if let trace { try picture.write("\(ChromeTrace.json(of: timeline))\n", to: trace) }
        guard svg == nil, trace == nil else { return }
        let shown = Answer(output)
        if shown.isForPrograms {
            try shown.showEach(answer["modules"]?.array ?? [])
            return try shown.show(Self.summary(timeline))
        }
        TimelineTable(timeline, shown.painter).print()
    }

    /// Returns the last line for a program.
    private static func summary(_ timeline: StartTimeline) -> JSON {
        var members: [JSON.Member] = [.init("app", .string(timeline.app))]
        if let begun = timeline.begun { members.append(.init("begun", .integer(begun))) }
        if let ready = timeline.ready { members.append(.init("ready", .integer(ready))) }
        if let begun = timeline.begun, let ready = timeline.ready {
            members.append(.init("microseconds", .integer(ready - begun)))
        }
        if let longest = timeline.longest {
            members.append(
                .init("longest", ["module": .string(longest.name), "microseconds": .integer(longest.own)]))
        }
        let path = timeline.criticalPath.map { step -> JSON in
            [
                "module": .string(step.module), "phase": .string(step.span.phase.rawValue),
                "microseconds": .integer(step.span.microseconds),
            ]
        }
        members.append(.init("criticalPath", .array(path)))
        return .object(members)
    }
}
