/// The stream from the own broker to the other node: the bytes that may have to be published again.
///
/// Places of the stream, in order: `taken` by the other broker's socket, `received` by the other
/// link, `next` to be published, `sent` at most so far, `end` of what the own broker has written.
/// Bytes before `received` are forgotten, since both links must live for the session to go on.
struct SendingHalf: ~Copyable {
    private var kept: ByteRing
    private(set) var taken: UInt64 = 0
    private(set) var received: UInt64 = 0
    private(set) var next: UInt64 = 0
    private(set) var sent: UInt64 = 0
    let window: Int
    private var flight: Flight

    /// When the other link last got bytes that it didn't have, or began to lack some.
    private var progressAt: UInt64 = 0
    /// When bytes were last published again.
    private var wentBackAt: UInt64 = 0
    /// How often bytes were published again since the last progress.
    private var attempts = 0

    init(window: Int) {
        self.window = window
        kept = ByteRing(limit: window)
        flight = Flight(most: window)
    }

    var end: UInt64 { received + UInt64(kept.count) }
    /// How many bytes the broker may write now.
    var room: Int { window - Int(end - taken) }
    /// Whether the other link lacks published bytes.
    var isOutstanding: Bool { sent > received }
    var memory: Int { kept.capacity }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= room, "the broker's bytes were read without room in the window")
        kept.append(bytes)
    }

    /// Takes the next bytes for a piece, which count as published from now on.
    /// - Returns: their place, and whether they were published before; nil if there are none, or if
    ///   enough is under way.
    mutating func takePart(_ largest: Int, at now: UInt64) -> (offset: UInt64, count: Int, isResend: Bool)? {
        let room = flight.limit - Int(next - received)
        guard next < end, room > 0 else { return nil }
        if !isOutstanding { progressAt = now }
        // A piece is wholly a resend or not at all, so that resent bytes are counted exactly.
        let limit = next < sent ? sent : end
        let part = (
            offset: next, count: min(largest, room, flight.largestPiece, Int(limit - next)), isResend: next < sent
        )
        next += UInt64(part.count)
        sent = max(sent, next)
        return part
    }

    /// Copies bytes of a part that the other link may still lack.
    func copy(from offset: UInt64, count: Int, to target: UnsafeMutableRawPointer) {
        kept.copy(from: Int(offset - received), count: count, to: target)
    }

    /// Whether the other link may have the bytes before a place: they were published.
    func mayHaveReceived(_ wanted: UInt64) -> Bool { wanted <= sent }

    /// Notes what the other link and its broker have. Older news changes nothing.
    /// - Parameter roundTrip: the time to the other link and back; 0 if it isn't known.
    mutating func acknowledged(_ header: PieceHeader, roundTrip: UInt64, at now: UInt64) {
        taken = max(taken, header.ack)
        guard header.wanted > received else { return }
        flight.acknowledged(Int(header.wanted - received), of: Int(next - min(next, received)), roundTrip: roundTrip)
        kept.drop(Int(header.wanted - received))
        received = header.wanted
        next = max(next, received)
        progressAt = now
        attempts = 0
    }

    /// Publishes again from the first byte that the other link lacks, for lack of progress.
    mutating func goBackWithLess(at now: UInt64) {
        flight.timedOut()
        goBack(at: now)
    }

    /// Publishes again from the first byte that the other link lacks.
    mutating func goBack(at now: UInt64) {
        guard next > received else { return }
        next = received
        wentBackAt = now
        attempts += 1
    }

    /// Does so because the other link asked, unless that was just done.
    mutating func askedToGoBack(at now: UInt64) {
        if now - wentBackAt >= PipeTimes.betweenAsked { goBack(at: now) }
    }

    /// Begins anew to wait for progress, after a time in which none was possible.
    mutating func restartWaiting(at now: UInt64) {
        progressAt = now
        attempts = 0
    }

    /// When to publish again for lack of progress; nil if nothing is under way.
    func goBackAt(after wait: UInt64) -> UInt64? {
        guard next > received else { return nil }
        return max(progressAt, wentBackAt) + min(wait << UInt64(min(attempts, 4)), max(wait, PipeTimes.longestResend))
    }

    /// When to give up for lack of progress; nil if the other link lacks nothing.
    func stuckAt(after wait: UInt64) -> UInt64? { isOutstanding ? progressAt + wait : nil }

    mutating func shrink() { kept.shrink() }
}
