import StrataCore

/// Asks a bus how it is, on a loop that has other things to do. It connects for
/// each look: a bus that was away is there again at the next.
final class BusReader {
    /// Milliseconds that a bus may take.
    static let patience: UInt64 = 2_000

    private let loop: Loop
    private let path: String
    private let limits = FrameLimits(frame: 16 << 20, header: 16 << 10)
    private var channel: RequestChannel?
    /// That of the look before: it may be what calls when its look is done.
    private var former: RequestChannel?
    private var timer: LoopTimer?
    private var welcome: JSON?
    private var modules: [JSON]?
    private var stats: JSON?
    private var measured: [MeasuredModule] = []
    /// Modules that have not told yet what they measure.
    private var asked = 0
    private var onDone: ((BusSnapshot?) -> Void)?

    /// - Parameter path: the bus's socket.
    init(_ loop: Loop, path: String) {
        self.loop = loop
        self.path = path
    }

    var isReading: Bool { onDone != nil }

    /// Looks; not while it does.
    /// - Parameter onDone: gets nil where there is no bus, or none that answers.
    func read(_ onDone: @escaping (BusSnapshot?) -> Void) {
        precondition(self.onDone == nil, "a look is taken while another is")
        self.onDone = onDone
        (welcome, modules, stats, measured, asked) = (nil, nil, nil, [], 0)
        timer = LoopTimer(loop) { [unowned self] in done(nil) }
        loop.updateTime()
        timer?.start(after: Self.patience)
        guard let frames = try? FrameChannel(loop, path: path, limits: limits) else { return done(nil) }
        let channel = RequestChannel(frames)
        self.channel = channel
        channel.onEnd = { [unowned self] _, _ in done(nil) }
        channel.onCall = { [unowned channel] call in
            channel.fail(call.id, BusError(.unknownAction, "the command line has no actions"))
        }
        let hello: JSON = ["protocol": 1, "role": "operator", "runtime": "strata \(RootCommand.version)"]
        ask("hello", hello) { [unowned self] in
            welcome = $0
            if let told = $0["limits"] {
                let frame = told["frame"]?.integer.flatMap { UInt32(exactly: $0) } ?? limits.frame
                let header = told["header"]?.integer.flatMap { UInt32(exactly: $0) } ?? limits.header
                channel.setLimits(FrameLimits(frame: frame, header: header))
            }
            ask("modules", nil) { [unowned self] in
                let all = $0["modules"]?.array ?? []
                modules = all
                for name in MeasuredModule.names(in: all) { ask(module: name) }
            }
            ask("stats", nil) { [unowned self] in stats = $0 }
        }
    }

    func close() { done(nil) }

    private func ask(_ action: String, _ params: JSON?, then: @escaping (JSON) -> Void) {
        channel?.request(to: "bus/\(action)", body: params?.encoded() ?? []) { [unowned self] answer in
            guard onDone != nil else { return }
            guard case .success(let body) = answer, let answer = try? JSON(parsing: body) else { return done(nil) }
            then(answer)
            doneIfAllIsTold()
        }
    }

    private func ask(module name: String) {
        asked += 1
        channel?.request(
            to: MeasuredModule.action, body: MeasuredModule.params(name).encoded(), deadline: MeasuredModule.patience
        ) { [unowned self] answer in
            guard onDone != nil else { return }
            asked -= 1
            if let module = MeasuredModule(name, answer) { measured.append(module) }
            doneIfAllIsTold()
        }
    }

    private func doneIfAllIsTold() {
        guard let welcome, let modules, let stats, asked == 0 else { return }
        measured.sort { $0.name < $1.name }
        done(BusSnapshot(welcome: welcome, modules: modules, stats: stats, measured: measured))
    }

    private func done(_ snapshot: BusSnapshot?) {
        guard let onDone else { return }
        self.onDone = nil
        timer?.close()
        timer = nil
        // Its end, and answers of what is open, come no more.
        channel?.onEnd = { _, _ in }
        former = channel
        channel = nil
        former?.close()
        onDone(snapshot)
    }
}
