internal import StrataCore
internal import StrataLoop

/// A counting semaphore.
///
/// `@unchecked Sendable` because its count is under the condition's lock.
final class Signal: @unchecked Sendable {
    private let condition = Condition()
    private var count = 0

    func raise() {
        condition.lock()
        count += 1
        condition.broadcast()
        condition.unlock()
    }

    func wait() {
        condition.lock()
        while count == 0 { condition.wait() }
        count -= 1
        condition.unlock()
    }

    /// Waits no longer than so many milliseconds.
    /// - Returns: whether it was raised.
    @discardableResult
    func wait(milliseconds: Int) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard condition.wait(milliseconds: milliseconds, until: { count > 0 }) else { return false }
        count -= 1
        return true
    }
}
