import Glibc
import StrataCore

/// An operator's connection to a bus, for a command that does one thing after
/// another: each request runs the loop until its answer is there.
final class OperatorConnection {
    /// How long a bus may take to answer hello, in milliseconds.
    static let patience: UInt64 = 10_000

    /// The socket's path.
    let path: String
    /// What the bus answered to hello.
    private(set) var welcome: JSON = .null
    private let loop: Loop
    private let channel: RequestChannel
    private var limits = FrameLimits(frame: 16 << 20, header: 16 << 10)
    private var ending: String?

    /// Connects and says hello.
    /// - Parameter patience: how long the bus may take for it, in milliseconds.
    /// - Throws: `noBus` where nobody takes the connection or speaks the
    ///   protocol, `answer` where the bus refuses this user.
    init(path: String, patience: UInt64 = patience) throws(Failure) {
        self.path = path
        do throws(SystemError) {
            loop = try Loop()
            channel = RequestChannel(try FrameChannel(loop, path: path, limits: limits))
        } catch {
            throw BusChoice.failure(connectingTo: path, error)
        }
        channel.onEnd = { [unowned self] ending, farewell in
            self.ending = farewell.map { "\($0)" } ?? "\(ending)"
            loop.stop()
        }
        channel.onCall = { [unowned self] call in
            channel.fail(call.id, BusError(.unknownAction, "the command line has no actions"))
        }
        var request = Request(to: "bus/hello")
        request.activity = "waiting for the bus at \(path)"
        let hello: JSON = ["protocol": 1, "role": "operator", "runtime": "strata \(RootCommand.version)"]
        request.body = hello.encoded()
        switch try run(request, guardedFor: patience) {
        case .failure(let error): throw Failure(error)
        case .success(let body):
            guard let told = try? JSON(parsing: body), told.object != nil else {
                throw Failure(.noBus, "what listens at \(path) answered hello with something else than a bus does")
            }
            welcome = told
        }
        if let told = welcome["limits"] {
            limits.frame = told["frame"]?.integer.flatMap { UInt32(exactly: $0) } ?? limits.frame
            limits.header = told["header"]?.integer.flatMap { UInt32(exactly: $0) } ?? limits.header
            channel.setLimits(limits)
        }
    }

    deinit { channel.close() }

    /// The URL schemes that this bus's app opens.
    var schemes: [String] { welcome["schemes"]?.array?.compactMap(\.string) ?? [] }
    var app: String { welcome["app"]?.string ?? "?" }
    /// The names of the app's levels, foundation first.
    var levels: [String] { welcome["levels"]?.array?.compactMap(\.string) ?? [] }

    /// Sends a request and waits for its final answer. Ctrl-C cancels it, and
    /// a second one ends the process.
    /// - Throws: `answer` for an error, `noBus` for a connection that ended.
    func send(_ request: Request) throws(Failure) -> [UInt8] {
        let size = request.body.count + request.meta.count + 1024
        guard size <= Int(limits.frame) else {
            throw Failure(
                .usage,
                "the params have \(request.body.count) bytes, and this bus takes frames of \(limits.frame): "
                    + "send less at once, or raise limits.frame in the manifest")
        }
        switch try run(request, guardedFor: request.patience) {
        case .success(let body): return body
        case .failure(let error): throw Failure(error)
        }
    }

    /// Asks the bus itself, or its launcher, and reads the answer.
    /// - Parameter patience: how long it may take, in milliseconds; nil is the bus's
    ///   own time, and some more.
    func ask(
        _ action: String, of interface: String = "bus", _ params: JSON? = nil, patience: UInt64? = nil
    ) throws(Failure) -> JSON {
        var request = Request(to: "\(interface)/\(action)", body: params?.encoded() ?? [])
        request.activity = "waiting for \(request.to)"
        if let patience { request.patience = patience }
        let body = try send(request)
        guard let answer = try? JSON(parsing: body) else {
            throw Failure(.answer, "the bus answered \(interface)/\(action) with what is no JSON")
        }
        return answer
    }

    /// Sends requests at once, and waits until each has its final answer.
    /// - Parameters:
    ///   - activity: what is being waited for, shown on a terminal where it takes long.
    ///   - patience: how long it may take, in milliseconds.
    /// - Returns: the answers, in the order of the requests.
    /// - Throws: `noBus` for a connection that ended, and for a bus that doesn't answer.
    func sendAll(_ requests: [Request], activity: String, patience: UInt64) throws(Failure) -> [RequestChannel.Answer] {
        try checkOpen()
        var answers = [RequestChannel.Answer?](repeating: nil, count: requests.count)
        var open = requests.count
        var isOverdue = false
        loop.updateTime()
        let timer = LoopTimer(loop) { [loop] in
            isOverdue = true
            loop.stop()
        }
        timer.start(after: patience)
        defer { timer.close() }
        let progress = showProgress(activity)
        defer { progress.end() }
        for (place, request) in requests.enumerated() {
            channel.request(to: request.to, body: request.body, deadline: request.deadline) { [loop] in
                guard !isOverdue else { return }
                answers[place] = $0
                open -= 1
                if open == 0 { loop.stop() }
            }
        }
        while open > 0, ending == nil, !isOverdue { loop.run() }
        try checkOpen()
        guard open == 0 else { throw unanswered }
        return answers.compactMap(\.self)
    }

    private var unanswered: Failure {
        Failure(.noBus, "the bus at \(path) takes connections and does not answer: is it stopped?")
    }

    /// Waits until the bus ends the connection.
    /// - Returns: whether it did so in time.
    func waitForEnd(milliseconds: UInt64) -> Bool {
        let timer = LoopTimer(loop) { [loop] in loop.stop() }
        timer.start(after: milliseconds)
        defer { timer.close() }
        if ending == nil { loop.run() }
        return ending != nil
    }

    /// Lets time pass on the loop.
    func pause(milliseconds: UInt64) {
        let timer = LoopTimer(loop) { [loop] in loop.stop() }
        timer.start(after: milliseconds)
        loop.run()
        timer.close()
    }

    /// Says on a terminal what is being waited for, until it is ended.
    func showProgress(_ activity: String) -> Progress { Progress(loop, activity) }

    private func run(
        _ request: Request, guardedFor patience: UInt64?
    ) throws(Failure) -> RequestChannel.Answer {
        try checkOpen()
        var answer: RequestChannel.Answer?
        var isOverdue = false
        let timer = LoopTimer(loop) { [loop] in
            isOverdue = true
            loop.stop()
        }
        defer { timer.close() }
        loop.updateTime()
        if let patience { timer.start(after: patience) }
        let progress = request.activity.map(showProgress)
        defer { progress?.end() }

        let id = channel.request(
            request.kind, to: request.to, body: request.body, deadline: request.deadline,
            credit: request.credit, members: request.members, meta: request.meta,
            onPartial: { body in
                progress?.end()
                if let patience { timer.start(after: patience) }
                request.onPartial(body)
            },
            onAnswer: { [loop, channel] in
                // A connection that ended has answered nothing.
                answer = channel.isClosed ? nil : $0
                loop.stop()
            })
        var isCancelled = false
        let interrupts = try? SignalWatcher(loop, signal: SIGINT) { [unowned self] in
            if isCancelled { exit(128 + SIGINT) }
            isCancelled = true
            channel.cancel(id)
        }
        defer { interrupts?.close() }
        let end = LoopTimer(loop) { [channel] in channel.cancel(id) }
        defer { end.close() }
        if let lasting = request.lasting { end.start(after: lasting) }
        while answer == nil, ending == nil, !isOverdue { loop.run() }
        guard let answer else {
            try checkOpen()
            guard request.isEndless, let patience else { throw unanswered }
            channel.cancel(id)
            throw Failure(quietFor: patience)
        }
        return answer
    }

    private func checkOpen() throws(Failure) {
        guard let ending else { return }
        throw Failure(.noBus, "the connection to the bus at \(path) ended: \(Printable.indented(ending))")
    }
}
