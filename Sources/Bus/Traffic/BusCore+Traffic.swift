import StrataCore

/// `bus/traffic`, which counts requests and notices for each edge, and tells operators at most ten
/// times a second which counts have changed.
extension BusCore {
    /// Handles `traffic`.
    @inline(never)
    func watchTraffic(_ asked: BusCall) throws(BusError) {
        try require(
            traffic.streams.count < TrafficStream.most, .overloaded,
            "\(TrafficStream.most) streams of bus/traffic are open already: end one of them")
        let call = try open(asked)
        // A stream has no deadline.
        calls.removeDeadline(of: call)
        // The request that opens a stream isn't noted.
        monitors.isTold()
        resumeTraffic(call, of: asked.peer)
    }

    /// Begins to count for an open request.
    func resumeTraffic(_ call: CallPointer, of peer: Peer) {
        traffic.add(of: peer, call, time: host.wallMicroseconds)
        monitors.setCounting(true)
        peer.setMonitoring(true)
        planTraffic()
    }

    /// Ends a request that the bus serves, which may be a stream.
    @inline(never)
    func endTraffic(_ call: CallPointer) {
        guard traffic.isOpen(call), let peer = call.pointee.caller?.takeUnretainedValue() else { return }
        traffic.remove(call)
        peer.setMonitoring(traffic.hasStreams(of: peer) || monitors.hasMonitors(of: peer))
        guard !traffic.isOn else { return }
        monitors.setCounting(false)
        cancelAlarm(.traffic)
    }

    // MARK: Turns

    /// Plans a turn, because a count has changed, or a stream may now take more.
    @inline(never)
    func planTraffic() {
        guard traffic.isOn, traffic.turn.state == .idle else { return }
        if case .wait(let time) = traffic.plan(now: now) { setAlarm(.traffic, after: time) }
    }

    func trafficTimePassed() { traffic.timePassed() }

    /// Tells one batch of what has changed, if it is time for that.
    func advanceTraffic() {
        guard traffic.turn.isUnderWay, let edges = traffic.edges else { return }
        var work = isShared ? TrafficTurn.sharedBatch : TrafficTurn.batch
        while work > 0, traffic.turn.stream != 0 {
            let bit = traffic.turn.stream
            guard let stream = traffic.streams.first(where: { $0.bit == bit }), mayTell(stream) else {
                takeBackTold(bit, edges)
                traffic.turn.streamDone()
                continue
            }
            guard let place = edges.pointee.next(from: traffic.turn.place, for: bit) else {
                tell(stream, edges)
                traffic.turn.streamDone()
                continue
            }
            append(place, to: stream, edges)
            work -= 1
        }
        guard traffic.turn.stream == 0 else { return }
        traffic.ended(now: now)
        let ready = traffic.streams.reduce(0) { $0 | (mayTell($1) ? $1.bit : 0) }
        if edges.pointee.next(from: 0, for: ready) != nil { planTraffic() }
    }

    /// Whether a stream may be sent a partial reply now.
    private func mayTell(_ stream: TrafficStream) -> Bool {
        let peer = stream.peer.takeUnretainedValue()
        return peer.isOpen && stream.call.pointee.stream.credit > 0 && hasStreamRoom(peer)
    }

    /// Appends an edge to the reply that is being made, which is sent first if it has no room.
    private func append(_ place: Int, to stream: TrafficStream, _ edges: UnsafeMutablePointer<EdgeTable>) {
        let before = traffic.turn.bytes.count
        if before == 0 { traffic.turn.bytes += edges.pointee.opening }
        if !traffic.turn.told.isEmpty { traffic.turn.bytes.append(UInt8(ascii: ",")) }
        edges.pointee.tell(place, to: stream.bit, in: &traffic.turn.bytes)
        traffic.turn.place = place + 1
        if traffic.turn.bytes.count + 2 > mostAnswered {
            traffic.turn.bytes.removeLast(traffic.turn.bytes.count - before)
            // An edge that fits into no frame is never told.
            guard !traffic.turn.told.isEmpty else { return }
            edges.pointee.mustTell(place, to: stream.bit)
            traffic.turn.place = place
            return tell(stream, edges)
        }
        traffic.turn.told.append(place)
        if traffic.turn.told.count == TrafficTurn.mostTold || traffic.turn.bytes.count > TrafficTurn.mostBytes {
            tell(stream, edges)
        }
    }

    /// Sends the reply that is being made.
    private func tell(_ stream: TrafficStream, _ edges: UnsafeMutablePointer<EdgeTable>) {
        guard !traffic.turn.told.isEmpty else { return }
        let peer = stream.peer.takeUnretainedValue()
        traffic.turn.bytes += "]}".utf8
        if fits(traffic.turn.bytes.count + HeaderWriter.overhead, peer.line) {
            stream.call.pointee.stream.credit -= 1
            queueStreamed(traffic.turn.bytes, stream.call, to: peer)
        } else {
            takeBackTold(stream.bit, edges)
        }
        traffic.turn.startReply()
    }

    /// Leaves what the reply that is being made tells for a later turn.
    private func takeBackTold(_ bit: UInt8, _ edges: UnsafeMutablePointer<EdgeTable>) {
        for place in traffic.turn.told where edges.pointee.streams & bit != 0 { edges.pointee.mustTell(place, to: bit) }
    }
}
