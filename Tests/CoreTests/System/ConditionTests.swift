import Glibc
import StrataCore
import StrataLoop
import Testing

@Suite(.timeLimit(.hang))
struct ConditionTests {
    @Test func aWaitEndsWithItsTimeWhereNothingHappens() {
        let condition = Condition()
        condition.lock()
        var judged = 0
        let isOver = condition.wait(milliseconds: 1) {
            judged += 1
            return false
        }
        condition.unlock()
        #expect(!isOver && judged >= 2)
    }

    @Test func aBroadcastOfAnotherThreadEndsAWait() {
        /// `@unchecked Sendable` because both threads use `isSet` only with the condition's lock.
        final class Shared: @unchecked Sendable {
            let condition = Condition()
            var isSet = false
        }
        let shared = Shared()
        shared.condition.lock()
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                let shared = Unmanaged<Shared>.fromOpaque(argument!).takeRetainedValue()
                shared.condition.lock()
                shared.isSet = true
                shared.condition.broadcast()
                shared.condition.unlock()
                return nil
            }, Unmanaged.passRetained(shared).toOpaque())
        #expect(shared.condition.wait(milliseconds: 50_000) { shared.isSet })
        shared.condition.unlock()
        pthread_join(thread, nil)
    }
}
