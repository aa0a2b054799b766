internal import StrataCore
internal import StrataLoop
internal import StrataPipe

/// The link's work for one other node: its pipe, and the connection to the own broker.
final class NodeLink {
    let name: String
    private(set) var pipe: NodePipe
    private unowned let link: Link  // because the link owns it
    private var connection: NodeConnection?
    private let subjects: (control: NATSSubject, pieces: NATSSubject, noResponders: NATSSubject)
    /// Whether something has happened that the end of the round acts on.
    private(set) var isTouched = true
    private var shownState: NodeState.Word?

    /// The most bytes that are read from the broker at once.
    private static let readSize = 64 << 10
    /// The most bytes that are read from the broker in a round, so that other nodes have their turns.
    private static let readInRound = 512 << 10

    init(_ name: String, of link: Link, _ settings: PipeSettings) {
        self.name = name
        self.link = link
        pipe = NodePipe(settings, at: Loop.nanoseconds)
        let (app, me) = (link.configuration.app, link.configuration.node)
        subjects = (
            NATSSubject(app: app, to: name, from: me, .control), NATSSubject(app: app, to: name, from: me, .pieces),
            NATSSubject(app: app, to: me, from: name, .noResponders)
        )
    }

    // MARK: - Events

    func carrierConnected(largestMessage: Int) {
        pipe.carrierConnected(largestMessage: largestMessage, at: Loop.nanoseconds)
        isTouched = true
    }

    func carrierDisconnected() {
        pipe.carrierDisconnected(at: Loop.nanoseconds)
        isTouched = true
    }

    func received(isPiece: Bool, _ bytes: UnsafeRawBufferPointer) {
        if isPiece {
            pipe.received(piece: bytes, at: Loop.nanoseconds)
        } else {
            pipe.received(control: bytes, at: Loop.nanoseconds)
        }
        isTouched = true
    }

    func noResponders() {
        pipe.noResponders(at: Loop.nanoseconds)
        isTouched = true
    }

    func shutDown() {
        pipe.shutDown(at: Loop.nanoseconds)
        isTouched = true
    }

    /// Closes the connection to the broker, without a word.
    func close() {
        connection?.close()
        connection = nil
    }

    /// Looks at the clock.
    func timePassed() {
        guard let deadline = pipe.deadline, deadline <= Loop.nanoseconds else { return }
        pipe.timePassed(at: Loop.nanoseconds)
        isTouched = true
    }

    /// The server takes more, perhaps after it took no more.
    func carrierMayHaveRoom() { isTouched = true }

    // MARK: - The end of a round

    /// Does what is to be done; called at the end of each round in which something has happened.
    func act() {
        guard isTouched else { return }
        isTouched = false
        perform()
        writeToBroker()
        readFromBroker()
        perform()
        if pipe.state.word != shownState { showState() }
    }

    private func perform() {
        while true {
            pipe.carrierRoomChanged(link.carrierHasRoom)
            guard let action = pipe.next(at: Loop.nanoseconds) else { return }
            switch action {
            case .publishControl(let message):
                message.encoded().withUnsafeBytes {
                    link.publish(subjects.control, reply: subjects.noResponders, $0)
                }
            case .publishPiece(let header, let count):
                let bytes = UnsafeMutableRawBufferPointer(rebasing: link.scratch.prefix(PieceHeader.size + count))
                // because the link's scratch isn't empty
                pipe.writePiece(header, count: count, to: bytes.baseAddress!)
                link.publish(subjects.pieces, reply: subjects.noResponders, UnsafeRawBufferPointer(bytes))
            case .openBroker: open()
            case .closeBroker(let loss): close(loss)
            }
        }
    }

    private func open() {
        do throws(SystemError) {
            connection = try NodeConnection(
                link.loop, path: link.configuration.socket, node: name, token: link.configuration.token, handler: self)
        } catch {
            pipe.brokerClosed("\(error)", at: Loop.nanoseconds)
        }
    }

    /// Reports a lost node, and closes its connection once the broker knows.
    private func close(_ loss: NodeLoss) {
        writeToBroker()
        link.report(loss, of: name) { [unowned self] in
            self.connection?.close()
            self.connection = nil
            self.pipe.brokerClosed("", at: Loop.nanoseconds)
            self.isTouched = true
        }
    }

    private func writeToBroker() {
        guard let connection, connection.isOpen else { return }
        while pipe.waiting > 0 {
            let count = pipe.withWaiting { connection.write($0, $1) }
            guard count > 0 else { return }
            pipe.brokerTook(count, at: Loop.nanoseconds)
        }
    }

    private func readFromBroker() {
        guard let connection, connection.isOpen else { return }
        var left = Self.readInRound
        while left > 0, pipe.room > 0, link.carrierHasRoom {
            let space = UnsafeMutableRawBufferPointer(rebasing: link.scratch.prefix(min(pipe.room, Self.readSize)))
            let count = connection.read(into: space)
            guard count > 0 else { break }
            pipe.brokerWrote(UnsafeRawBufferPointer(rebasing: space[..<count]))
            left -= count
            if count < space.count { break }
            perform()
        }
        self.connection?.reads(pipe.room > 0 && link.carrierHasRoom)
    }

    private func showState() {
        let state = pipe.state
        defer { shownState = state.word }
        guard shownState != nil else { return }
        link.say("\(name) is \(state.word.rawValue)\(state.why.isEmpty ? "" : ": \(state.why)")")
    }
}

extension NodeLink: NodeConnection.Handler {
    func nodeOpened() {
        // A session may have ended while its connection was made.
        if pipe.life == .opening { pipe.brokerOpened(at: Loop.nanoseconds) }
        isTouched = true
    }

    func nodeIsReady() { isTouched = true }

    func nodeEnded(_ why: String) {
        connection = nil
        isTouched = true
        // While a loss is being reported, the report's answer ends it.
        if pipe.life != .closing { pipe.brokerClosed(why, at: Loop.nanoseconds) }
    }
}
