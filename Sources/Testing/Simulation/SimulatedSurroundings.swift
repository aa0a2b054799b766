internal import Glibc
internal import Strata
internal import StrataBus
internal import StrataCore
internal import StrataLoop

/// The surroundings of a simulated module: virtual time, and a connection in memory.
///
/// Its `init` may be `nonisolated`, because only the simulation's thread uses it.
@ModuleActor
final class SimulatedSurroundings: Surroundings {
    private let bus: SimulatedBus
    private let label: String
    private let pid: Int32
    private var transport: SimulatedTransport?

    nonisolated init(_ bus: SimulatedBus, _ label: String, pid: Int32) {
        self.bus = bus
        self.label = label
        self.pid = pid
    }

    var now: UInt64 { bus.milliseconds }

    func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) -> any Alarm {
        // A loop's timer fires in its next round at the earliest.
        let alarm = SimulatedAlarm(pid, now + max(1, milliseconds), body)
        bus.add(alarm)
        return alarm
    }

    func connect(to socket: String, limits: FrameLimits) throws(SystemError) -> FrameChannel {
        let transport = SimulatedTransport(try bus.pipe(of: pid), StoryTeller(bus.story, label))
        bus.add(transport)
        self.transport = transport
        return FrameChannel(transport, limits: limits)
    }

    /// Ends the connection. What isn't written yet is lost.
    func cut() { transport?.close() }

    func block(label: String?, _ work: @escaping @Sendable () -> Void) -> Bool {
        bus.block(label.map { "\(pid) \($0)" }, work)
        return true
    }
}

/// A timer on virtual time. Only the simulation's thread uses it.
final class SimulatedAlarm: Alarm {
    /// The process that it belongs to.
    nonisolated let owner: Int32
    nonisolated let due: UInt64
    private nonisolated(unsafe) let body: () -> Void
    private(set) nonisolated(unsafe) var isOver = false

    init(_ owner: Int32, _ due: UInt64, _ body: @escaping () -> Void) {
        self.owner = owner
        self.due = due
        self.body = body
    }

    nonisolated func fire() {
        isOver = true
        body()
    }

    func close() { isOver = true }
}

/// A simulated module's end of a connection.
final class SimulatedTransport: Transport {
    private let pipe: MemoryPipe
    private var story: StoryTeller
    private var handler: (Socket.Event) -> Void = { _ in }
    private var watched: Socket.Event = []
    /// The number of bytes that the next read may take.
    private var most = Int.max

    init(_ pipe: MemoryPipe, _ story: StoryTeller) {
        self.pipe = pipe
        self.story = story
    }

    var isClosed: Bool { pipe.isClosed }
    /// The number of bytes that can be read.
    var arrived: Int { pipe.arrived.count }

    /// The watched events that it is ready for.
    var events: Socket.Event {
        var ready: Socket.Event = []
        if !pipe.arrived.isEmpty || pipe.isClosedByBroker { ready.insert(.readable) }
        if pipe.isClosedByBroker || pipe.unread < pipe.capacity { ready.insert(.writable) }
        return ready.intersection(watched)
    }

    /// Notifies its owner of the events that it is ready for.
    /// - Parameter most: the number of bytes that can be read.
    func ready(_ most: Int) {
        self.most = most
        handler(events)
    }

    func setEventHandler(_ handler: @escaping (Socket.Event) -> Void) { self.handler = handler }

    func watch(_ events: Socket.Event) { watched = events }

    func read(into space: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        guard !pipe.arrived.isEmpty else { return pipe.isClosedByBroker ? .ended : .wouldBlock }
        let count = min(space.count, most, pipe.arrived.count)
        pipe.take(most: count) {
            space.copyMemory(from: $0)
            story.received($0)
        }
        return .moved(count)
    }

    func write(_ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Socket.Transfer {
        guard !pipe.isClosedByBroker else { return .failed(EPIPE) }
        let room = pipe.capacity - pipe.unread
        guard room > 0 else { return .wouldBlock }
        var count = 0
        for part in parts where count < room {
            let chunk = UnsafeRawBufferPointer(rebasing: part.prefix(room - count))
            pipe.send(Array(chunk))
            story.sent(chunk)
            count += chunk.count
        }
        return .moved(count)
    }

    func close() {
        pipe.close()
        handler = { _ in }
    }
}
