import Glibc
import Strata

/// A module that waits in each way that there is.
final class WaitingModule: Module {
    static let name = "Waiting"
    private let bus: Bus
    private var attempts = 0

    init(bus: Bus) {
        self.bus = bus
        // Outside of any handler.
        Task {
            try await sleep(milliseconds: 86_400_000)
            self.attempts = 100
        }
    }

    func register(_ exports: inout Exports) {
        exports.action("Waiting/nap") { _ in
            try await sleep(milliseconds: 3_600_000)
            return .integer(Int64((self.bus.remaining ?? .zero) / .seconds(1)))
        }
        exports.action("Waiting/block") { _ in .integer(try await blocking { 42 }) }
        exports.action("Waiting/sleep") { _ in
            try await Task.sleep(nanoseconds: 1)
            return [:]
        }
        exports.action("Waiting/sleepApart") { _ in
            try await Task { try await Task.sleep(nanoseconds: 1) }.value
            return [:]
        }
        exports.action("Waiting/detach") { _ in .integer(await Task.detached { 42 }.value) }
        exports.action("Waiting/thread") { _ in
            await withUnsafeContinuation { continuation in
                // Later, when the handler waits.
                Task { Thread { continuation.resume() }.join() }
            }
            return [:]
        }
        exports.action("Waiting/spin") { _ in
            while true { await Task.yield() }
        }
        exports.action("Waiting/retry") { _ in
            try self.bus.background("counting", onFailure: .retry(after: .seconds(600))) {
                self.attempts += 1
                throw ModuleError("Waiting.failed", "it always fails")
            }
            return [:]
        }
        exports.action("Waiting/attempts") { _ in .integer(Int64(self.attempts)) }
        exports.action("Waiting/fail") { _ in
            try self.bus.background("failing") { throw ModuleError("Waiting.failed", "it always fails") }
            return [:]
        }
    }
}

/// A thread of the operating system.
private final class Thread {
    private let body: @Sendable () -> Void
    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
        let own = Unmanaged.passRetained(self)
        pthread_create(
            &thread, nil,
            { own in
                // Because it was given one.
                Unmanaged<Thread>.fromOpaque(own!).takeRetainedValue().body()
                return nil
            }, own.toOpaque())
    }

    func join() { pthread_join(thread, nil) }
}
