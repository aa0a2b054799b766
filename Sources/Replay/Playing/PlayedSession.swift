internal import Glibc
import StrataConformance
import StrataCore

/// The connection of the played module. The replay is the broker, with the probe of the conformance kit.
final class PlayedSession {
    let program: ProbeProgram
    private let connection: ProbeConnection
    private let place: KitPlace
    private let patience: Duration
    /// Called with each frame, both ways: for `--verbose`.
    private let show: ((String) -> Void)?
    private var lastID: Int64 = 1 << 40

    init(
        _ connection: ProbeConnection, _ program: ProbeProgram, _ place: KitPlace, patience: Duration,
        show: ((String) -> Void)?
    ) {
        (self.connection, self.program, self.place, self.patience) = (connection, program, place, patience)
        self.show = show
    }

    /// Whether the module can get or send nothing more.
    var isOver: Bool { connection.isAtEnd }

    func newID() -> Int64 {
        lastID += 1
        return lastID
    }

    /// Sends a frame. A module that has ended doesn't get it, which is found by what is expected of it.
    func send(_ header: [JSON.Member], _ body: JSON = .null) throws(Finding) {
        let (head, bytes) = (JSON.object(header).encoded(), body == .null ? [] : body.encoded())
        show?("> \(ProbeFrame.shown(head, bytes))")
        do throws(Finding) {
            try connection.sendAll(
                ProbeFrame.bytes(head, bytes), to: program, in: place, until: Moment(after: patience))
        } catch {
            guard !error.isInterruption else { throw error }
            // A part of the frame may have been sent.
            connection.close()
        }
    }

    /// Takes frames until a condition holds.
    /// - Parameter time: how long that may take; nil for the module's time.
    /// - Returns: false if the time or the connection has ended before that.
    func wait(
        _ take: (ProbeFrame) throws(Finding) -> Void, within time: Duration? = nil, until condition: () -> Bool
    ) throws(Finding) -> Bool {
        let moment = Moment(after: time ?? patience)
        while true {
            while let frame = try connection.nextFrame() {
                show?("< \(ProbeFrame.shown(frame.headerBytes, frame.body))")
                try take(frame)
            }
            if condition() { return true }
            if connection.isAtEnd { return false }
            guard try place.wait(program, connection.descriptor, Int16(POLLIN), until: moment) else { return false }
            connection.read()
        }
    }

    /// Waits for the process's end after the connection's; nil if it goes on.
    func waitForEnd() throws(Finding) -> ProbeProgram.End? {
        try program.waitForEnd(in: place, until: Moment(after: patience))
    }

    /// Ends the session as a broker does when its app ends.
    func shutDown() throws(Finding) {
        try send([
            .init("kind", "error"), .init("code", "shutting-down"), .init("message", "the recording ends here"),
            .init("ran", "no"),
        ])
        connection.close()
    }
}
