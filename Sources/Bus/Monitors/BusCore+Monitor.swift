import StrataCore

/// `bus/monitor`: tells operators of each frame that passes or is refused.
///
/// The rest of the bus looks at `monitors.isOn`, and comes here only where that
/// is set. A monitor's own stream is told to no monitor, so that two of them
/// don't tell each other of each other for ever.
extension BusCore {
    /// `monitor {"module"?, "name"?, "bodies"?}`
    @inline(never)
    func monitor(_ asked: BusCall) throws(BusError) {
        let wanted = try wantedFrames(asked)
        try require(
            monitors.monitors.count < Monitor.most, .overloaded,
            "\(Monitor.most) monitors are open already: end one of them")
        let call = try open(asked)
        // A monitor has no deadline.
        calls.removeDeadline(of: call)
        // Its request isn't told.
        monitors.isTold()
        monitors.add(of: asked.peer, call, wanted, missed: 0)
    }

    private func wantedFrames(_ asked: BusCall) throws(BusError) -> Monitor.Wanted {
        var wanted = Monitor.Wanted()
        guard !asked.body.isEmpty else { return wanted }
        let reader = try asked.params()
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

    /// A request of the bus's own ends: it may be a monitor.
    @inline(never)
    func endMonitor(_ call: CallPointer) {
        monitors.remove(call)
        if !monitors.isOn { cancelAlarm(.notes) }
    }
}
