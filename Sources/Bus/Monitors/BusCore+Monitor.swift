import StrataCore

/// `bus/monitor`: tells operators of each frame that passes or is refused.
///
/// The rest of the broker looks at `isMonitored`, and comes here only where that
/// is set. A monitor's own stream is told to no monitor, so that two of them
/// don't tell each other of each other for ever.
extension BusCore {
    /// `monitor {"module"?, "name"?, "bodies"?}`
    @inline(never)
    func monitor(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer) throws(BusError) {
        let wanted = try wantedFrames(body)
        guard monitors.count < Monitor.most else {
            throw BusError(.overloaded, "\(Monitor.most) monitors are open already: end one of them")
        }
        guard let call = openRequest(.served, header, from: peer) else { return }
        // A monitor has no deadline.
        wheel.remove(call)
        call.pointee.expiry = Call.never
        call.pointee.budget = 0
        // Its request isn't told.
        frameInHand?.isTold = true
        addMonitor(of: peer, call, wanted)
    }

    private func wantedFrames(_ body: UnsafeRawBufferPointer) throws(BusError) -> Monitor.Wanted {
        var wanted = Monitor.Wanted()
        guard !body.isEmpty else { return wanted }
        var reader = try MemberReader(body: body, of: "bus/monitor")
        let module = try reader.string("module")
        let name = try reader.string("name")
        wanted.bodies = try reader.bool("bodies") ?? false
        if let module, !Array(module.utf8).withUnsafeBytes(Name.isModule) {
            throw BusError(
                .badParams,
                "bus/monitor has module \"\(module)\", which can't be a name: say a module's, operator, launcher or bus"
            )
        }
        if let name, !(1...256).contains(name.utf8.count) {
            throw BusError(.badParams, "bus/monitor has a name of \(name.utf8.count) bytes: names have 1 to 256")
        }
        wanted.module = module.map { Array($0.utf8) }
        wanted.name = name.map { Array($0.utf8) }
        return wanted
    }

    /// Opens a monitor; there is a place for it.
    /// - Parameter missed: what one that goes on has missed.
    func addMonitor(of peer: Peer, _ call: CallPointer, _ wanted: Monitor.Wanted, missed: UInt64 = 0) {
        let taken = monitors.reduce(0) { $0 | $1.bit }
        let monitor = Monitor(peer: peer, call: call, wanted: wanted, bit: ~taken & (taken &+ 1))
        monitor.missed = missed
        monitors.append(monitor)
        peer.isMonitoring = true
        if notes == nil { notes = NoteRing() }
        isMonitored = true
    }

    /// A request of the broker's own ends: it may be a monitor. What it was still to be
    /// sent is dropped.
    @inline(never)
    func endMonitor(_ call: CallPointer) {
        guard let index = monitors.firstIndex(where: { $0.call == call }) else { return }
        let ended = monitors.remove(at: index)
        notes?.forget(ended.bit)
        ended.peer._withUnsafeGuaranteedRef { peer in
            peer.isMonitoring = monitors.contains { $0.peer.toOpaque() == ended.peer.toOpaque() }
        }
        guard monitors.isEmpty else { return }
        isMonitored = false
        notes = nil
        noteFormatter = nil
        noteTurns.emptied()
        cancelAlarm(.notes)
    }
}
