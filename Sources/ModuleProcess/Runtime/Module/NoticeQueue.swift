/// The notices whose observers are running, and those that wait because too many are running. None
/// is dropped; if the waiting ones exceed the limit in bytes, the connection has to end.
@ModuleActor
final class NoticeQueue {
    private typealias Waiting = (bytes: Int, start: (@escaping () -> Void) -> Void)

    private var running = 0
    private var waiting: [Waiting] = []
    private var head = 0
    private var bytes = 0
    private var isStarting = false

    /// Called with the change in the number of waiting notices.
    var onWaiting: (Int) -> Void = { _ in }

    init() {}

    /// Starts a notice's handler now or later; returns false if there is no room for the notice.
    /// - Parameter start: Starts the handler, and receives a closure to call when it has ended.
    func add(bytes count: Int, limit: Int, start: @escaping (@escaping () -> Void) -> Void) -> Bool {
        guard running >= SessionLimits.handlers else {
            begin(start)
            return true
        }
        guard bytes + count <= limit else { return false }
        bytes += count
        waiting.append((count, start))
        onWaiting(1)
        return true
    }

    private func begin(_ start: (@escaping () -> Void) -> Void) {
        running += 1
        start { self.ended() }
    }

    private func ended() {
        running -= 1
        guard !isStarting else { return }
        isStarting = true
        defer { isStarting = false }
        while running < SessionLimits.handlers, head < waiting.count {
            let next = waiting[head]
            head += 1
            bytes -= next.bytes
            onWaiting(-1)
            begin(next.start)
        }
        if head == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        }
    }
}
