import Glibc
import StrataCore

@testable import Strata

/// Surroundings without a loop: time passes when the test says so, and bytes pass in memory.
@ModuleActor
final class VirtualSurroundings: Surroundings {
    private final class VirtualAlarm: Alarm {
        let due: UInt64
        let body: () -> Void
        var isOver = false

        init(_ due: UInt64, _ body: @escaping () -> Void) {
            self.due = due
            self.body = body
        }

        func close() { isOver = true }
    }

    private(set) var now: UInt64 = 1
    private var alarms: [VirtualAlarm] = []
    private var connected: [FakePeer] = []
    /// Whether somebody takes connections.
    var isListening = true

    init() {}

    func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) -> any Alarm {
        let alarm = VirtualAlarm(now + milliseconds, body)
        alarms.append(alarm)
        return alarm
    }

    func connect(to socket: String, limits: FrameLimits) throws(SystemError) -> FrameChannel {
        guard isListening else { throw SystemError(ECONNREFUSED, "connect to \(socket)") }
        let (near, far) = MemoryTransport.pair()
        connected.append(FakePeer(far))
        return FrameChannel(near, limits: limits)
    }

    /// The connection that was made last.
    var peer: FakePeer? { connected.last }
    var connections: Int { connected.count }

    func close() {
        for peer in connected { peer.close() }
    }

    /// Milliseconds until the next alarm; nil where there is none.
    var nextAlarm: UInt64? { alarms.filter { !$0.isOver }.map(\.due).min().map { $0 - now } }

    /// Lets time pass, alarm by alarm.
    func pass(milliseconds: UInt64) {
        let end = now + milliseconds
        while let alarm = alarms.filter({ !$0.isOver && $0.due <= end }).min(by: { $0.due < $1.due }) {
            alarm.close()
            now = alarm.due
            alarm.body()
        }
        alarms.removeAll { $0.isOver }
        now = end
    }

    /// The bus goes, nobody listens, and the module has begun to wait for it.
    func busLeaves() async {
        isListening = false
        peer?.close()
        await until { nextAlarm != nil }
    }

    /// Lets other jobs run until something is so.
    func until(_ isSo: () -> Bool) async {
        while !isSo(), !Task.isCancelled { await Task.yield() }
    }
}

/// One end of a connection in memory.
///
/// `@unchecked Sendable` because both ends are used on the actor's thread alone.
private final class MemoryTransport: Transport, @unchecked Sendable {
    private var arrived: [UInt8] = []
    private var handler: (Socket.Event) -> Void = { _ in }
    private var isClosed = false
    private weak var other: MemoryTransport?
    private var isToldOfInput = false

    static func pair() -> (MemoryTransport, MemoryTransport) {
        let ends = (MemoryTransport(), MemoryTransport())
        ends.0.other = ends.1
        ends.1.other = ends.0
        return ends
    }

    func setEventHandler(_ handler: @escaping (Socket.Event) -> Void) { self.handler = handler }
    func watch(_ events: Socket.Event) {}

    func read(into space: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        guard !arrived.isEmpty else { return other?.isClosed ?? true ? .ended : .wouldBlock }
        let count = min(space.count, arrived.count)
        arrived.withUnsafeBytes { space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        arrived.removeFirst(count)
        // What is left is told again, as the end is.
        tell()
        return .moved(count)
    }

    func write(_ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Socket.Transfer {
        guard let other, !other.isClosed else { return .failed(EPIPE) }
        for part in parts { other.arrived += part }
        other.tell()
        return .moved(parts.reduce(0) { $0 + $1.count })
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        handler = { _ in }
        other?.tell()
    }

    /// Its owner is told in a job of its own, as by a loop.
    private func tell() {
        guard !isToldOfInput else { return }
        isToldOfInput = true
        Task(executorPreference: ModuleExecutor.shared) { @ModuleActor in
            self.isToldOfInput = false
            self.handler(.readable)
        }
    }
}
