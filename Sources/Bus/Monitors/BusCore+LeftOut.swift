import StrataCore

/// What monitors are told of frames that were left out because of `most`, and that no shown frame
/// has told them of. The counts go out at most once a second, in batches.
extension BusCore {
    /// The edges that one partial reply tells of.
    private static let batch = 128
    /// The same while a light peer is connected: some ten microseconds of work.
    private static let sharedBatch = 8

    /// Makes the counts be told in a second.
    @inline(never)
    func planLeft() {
        monitors.plansLeft()
        setAlarm(.left, after: FrameShares.period)
    }

    func leftTimePassed() { monitors.beginsLeft() }

    /// Tells one monitor of a batch of edges.
    func advanceLeft() {
        guard let monitor = monitors.nextTold() else { return planLeftAgain() }
        guard tellLeft(monitor, most: isShared ? Self.sharedBatch : Self.batch) else { return monitors.toldOne() }
    }

    /// - Returns: whether there may be more to tell.
    private func tellLeft(_ monitor: Monitor, most: Int) -> Bool {
        let peer = monitor.peer.takeUnretainedValue()
        guard let shares = monitor.shares, peer.isOpen, monitor.hasCredit, hasStreamRoom(peer) else { return false }
        let taken = shares.takeLeft(most: most)
        guard !taken.isEmpty else { return false }
        let body = JSON.object([
            .init("left", .array(taken.map { .object($0.edge.described + [.init("count", JSON($0.count))]) }))
        ]).encoded()
        guard body.count <= mostAnswered, fits(body.count + HeaderWriter.overhead, peer.line) else {
            for (edge, count) in taken { shares.giveBack(count, to: edge) }
            // Fewer edges may fit.
            return most > 1 && body.count > mostAnswered ? tellLeft(monitor, most: 1) : false
        }
        monitor.call.pointee.stream.credit -= 1
        queueStreamed(body, monitor.call, to: peer)
        return shares.hasLeft
    }

    /// Plans the next turn if some counts couldn't be told.
    private func planLeftAgain() {
        if !monitors.willTellLeft, monitors.monitors.contains(where: { $0.shares?.hasLeft == true }) { planLeft() }
    }

    /// Queues a partial reply that no monitor sees.
    func queueStreamed(_ body: [UInt8], _ call: CallPointer, to peer: Peer) {
        let id = call.pointee.callerID
        _ = body.withUnsafeBytes { body in
            queue(.reply, to: peer.line, room: 0, body: body, isAnswer: true) { writer in
                writer.integer("id", id)
                writer.boolean("more", true)
            }
        }
    }
}
