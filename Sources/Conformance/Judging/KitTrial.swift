import StrataCore

/// What one check has: the program, and its sessions with the kit.
final class KitTrial {
    let place: KitPlace
    /// How long the client has for each step.
    let patience: Duration
    private let words: [String]
    /// The last frames of this check, and what else happened, the newest last.
    private(set) var story: [String] = []
    /// How many lines came before these.
    private(set) var earlier = 0
    /// How many lines are kept.
    private static let mostLines = 16
    /// The program that was started last; killed with the trial.
    private(set) var program: ProbeProgram?
    private(set) var session: KitSession?

    init(_ words: [String], in place: KitPlace, patience: Duration) {
        (self.words, self.place, self.patience) = (words, place, patience)
    }

    deinit { end() }

    static let token = "conformance-token"

    /// Starts the program.
    @discardableResult
    func start(_ arguments: [String] = [], socket: String? = nil) throws(Finding) -> ProbeProgram {
        end()
        place.dropWaiting()
        do throws(ConformanceError) {
            let program = try ProbeProgram(
                words + arguments,
                [
                    "STRATA_SOCKET": socket ?? place.path, "STRATA_MODULE": "Probe", "STRATA_TOKEN": Self.token,
                    "STRATA_ENV": "debug",
                ])
            self.program = program
            return program
        } catch { throw Finding(error.description) }
    }

    /// Waits for a connection of the program that runs, and its hello, which isn't answered yet.
    @discardableResult
    func connect() throws(Finding) -> KitSession {
        guard let program else { preconditionFailure("connect comes after start") }
        session?.close()
        guard let connection = try place.accept(from: program, until: Moment(after: patience)) else {
            throw Finding(
                program.end.map { "the program has ended: \($0)" } ?? "the client doesn't connect", in: .session)
        }
        note("the client connects")
        let session = KitSession(connection, program, self)
        self.session = session
        try session.readHello()
        return session
    }

    /// Starts the program and takes it through its start, until it is ready.
    @discardableResult
    func ready(_ answer: HelloAnswer = HelloAnswer()) throws(Finding) -> KitSession {
        try start()
        let session = try connect()
        try session.welcome(answer)
        return session
    }

    /// Waits until the program has ended.
    func end(of program: ProbeProgram) throws(Finding) -> ProbeProgram.End {
        guard let end = try program.waitForEnd(in: place, until: Moment(after: patience)) else {
            throw Finding("the program must end, and goes on")
        }
        note("the program ends: \(end)")
        return end
    }

    func note(_ line: String) {
        story.append(line)
        guard story.count > Self.mostLines else { return }
        story.removeFirst()
        earlier += 1
    }

    /// Begins the next check with the same program.
    func begin() { (story, earlier) = ([], 0) }

    /// What the program that ran last wrote to standard error.
    private(set) var lastErrors: [UInt8]?

    /// Kills the program.
    func end() {
        session?.close()
        session = nil
        program?.kill()
        program?.readOutput()
        if let program { lastErrors = program.errors }
        program = nil
    }
}
