import Glibc
import StrataCore
import StrataTesting

/// One connection of a script. It counts its requests, and judges each frame that arrives by what
/// the protocol promises.
final class FuzzPeer {
    private let socket: PeerSocket
    /// The rank of its module; nil for none.
    let rank: Int?
    /// Whether it reads nothing.
    var isPaused = false
    /// Whether it answers the calls of its life cycle by itself.
    var answersLifecycle = true
    /// The bytes that the kernel or the script has not taken yet, in order.
    private var unsent: [UInt8] = []
    /// The number of bytes at the end of `unsent` that wait.
    private var heldBack = 0

    /// Whether everything that it sent were frames, so that its requests are known.
    private(set) var isTame = true
    /// The number of requests without a final answer, by id.
    private var open: [UInt64: Int] = [:]
    /// The number of requests that never end, and of errors for requests that never began.
    private var endless = 0
    private var lastID: UInt64 = 0
    /// Whether hello was answered.
    private(set) var isGreeted = false
    /// The broker's requests that this peer has not answered, in order.
    private(set) var unanswered: [UInt64] = []
    /// Every id that the broker has used.
    private var used: Set<UInt64> = []
    private let levels: [String]

    init(path: String, rank: Int?, levels: [String]) throws {
        socket = try PeerSocket(path: path)
        self.rank = rank
        self.levels = levels
    }

    var isEnded: Bool { socket.isAtEnd }

    /// Returns the id for a new request.
    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    var previousID: UInt64 { lastID }

    func isOpen(_ id: UInt64) -> Bool { open[id] != nil }

    /// The number of requests that lack a final answer and should have one.
    var unexplained: Int { open.values.reduce(0, +) - endless }

    // MARK: Sending

    /// Queues a frame.
    /// - Parameter held: the number of its last bytes that wait until something else is sent.
    func send(_ header: [UInt8], _ body: [UInt8], holding held: Int = 0) {
        note(header)
        heldBack = 0
        unsent += FrameBytes.frame(header, body: body)
        heldBack = min(held, unsent.count)
    }

    /// Queues bytes that may not be a frame.
    func send(bytes: [UInt8]) {
        isTame = false
        heldBack = 0
        unsent += bytes
    }

    /// Releases the bytes that were held back.
    func release() { heldBack = 0 }

    var isFull: Bool { unsent.count > 1 << 20 }

    /// Counts the request that a header opens.
    private func note(_ header: [UInt8]) {
        guard let json = try? JSON(parsing: header, maximumDepth: 32), let kind = json["kind"]?.string else {
            isTame = false
            return
        }
        guard !["reply", "error", "cancel", "credit"].contains(kind) else { return }
        guard let id = json["id"]?.integer, (1...HeaderScanner.largestInteger).contains(id) else { return }
        open[UInt64(id), default: 0] += 1
        let to = json["to"]?.string ?? ""
        if to.hasPrefix("bus"), to.hasSuffix("/watch") || to.hasSuffix("/monitor") { endless += 1 }
    }

    // MARK: Moving bytes

    /// Sends and reads what is possible without waiting.
    /// - Returns: whether any bytes moved.
    func pump() throws(FuzzFinding) -> Bool {
        guard socket.descriptor >= 0 else { return false }
        var moved = flush()
        guard !isPaused, !isEnded else { return moved }
        var wanted = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, 0) > 0 else { return moved }
        socket.read()
        moved = true
        while true {
            let frame: ReceivedFrame?
            do { frame = try socket.nextFrame() } catch { throw FuzzFinding("\(error)") }
            guard let frame else { break }
            try take(frame)
        }
        return moved
    }

    private func flush() -> Bool {
        let ready = unsent.count - heldBack
        guard ready > 0 else { return false }
        let count = unsent.withUnsafeBytes {
            Glibc.send(socket.descriptor, $0.baseAddress, ready, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        guard count > 0 else {
            if errno != EAGAIN { unsent = [] }
            return false
        }
        unsent.removeFirst(count)
        return true
    }

    func endWriting() {
        isTame = false
        socket.endWriting()
    }

    func close() { socket.close() }

    // MARK: Judging

    private func take(_ frame: ReceivedFrame) throws(FuzzFinding) {
        let id = frame.id
        switch frame.kind {
        case "reply", "error":
            isGreeted = isGreeted || frame.kind == "reply"
            if id == 0 {
                try demand(frame.kind == "error", "a reply came without id: \(frame)")
                if frame.code == "bad-id" { endless += 1 }
            } else if isTame {
                guard let count = open[id] else { throw FuzzFinding("an answer came to no open request: \(frame)") }
                if !frame.isPartial { open[id] = count > 1 ? count - 1 : nil }
            }
            if frame.kind == "error" {
                try demand(
                    !frame.code.isEmpty && ["no", "maybe", "yes"].contains(frame.ran), "an error lacks: \(frame)")
            }
        case "call", "notice":
            if id != 0 {
                try demand(used.insert(id).inserted, "the broker used a number again: \(frame)")
                if answersLifecycle, frame.to.hasPrefix("module/") {
                    answer(id, "error", #","code":"unknown-action""#)
                } else {
                    unanswered.append(id)
                }
            } else {
                try demand(frame.kind == "notice", "a call came without id: \(frame)")
            }
            if frame["via"]?.string == "broadcast", let rank {
                let sender = levels.firstIndex(of: frame["level"]?.string ?? "") ?? .max
                try demand(sender < rank, "a broadcast reached no later level: \(frame)")
            }
        case "cancel", "credit":
            try demand(used.contains(id), "a \(frame.kind) came for no call: \(frame)")
        default: throw FuzzFinding("the broker sent \(frame)")
        }
    }

    /// Sends an answer to a request of the broker.
    func answer(_ id: UInt64, _ kind: String, _ members: String = "", _ body: String = "") {
        send(Array("{\"kind\":\"\(kind)\",\"id\":\(id)\(members)}".utf8), Array(body.utf8))
    }

    /// Answers the request at a place of `unanswered`, and forgets it if the answer is final.
    func answer(place: Int, isFinal: Bool, _ kind: String, _ members: String = "", _ body: String = "") {
        let id = unanswered[place]
        if isFinal { unanswered.remove(at: place) }
        answer(id, kind, members, body)
    }
}
