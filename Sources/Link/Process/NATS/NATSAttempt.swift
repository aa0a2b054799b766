internal import CNATS
internal import Glibc

/// One attempt to connect to NATS, on a thread of its own, since it may take a second for each server, and longer for
/// one that accepts a connection and says nothing.
///
/// `@unchecked Sendable` because the thread alone uses it once it runs.
final class NATSAttempt: @unchecked Sendable {
    private let options: OpaquePointer
    private let news: NATSNews
    private let served: Unmanaged<NATSNews>

    private init(_ options: OpaquePointer, _ news: NATSNews) {
        self.options = options
        self.news = news
        served = news.serve(options)
    }

    /// Starts an attempt, which tells its end to `news`.
    /// - Parameter options: libnats's options, which the attempt destroys.
    static func start(_ options: OpaquePointer, telling news: NATSNews) {
        let attempt = Unmanaged.passRetained(NATSAttempt(options, news))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { attempt in
                // Balances the retain above.
                Unmanaged<NATSAttempt>.fromOpaque(attempt!).takeRetainedValue().run()
                return nil
            }, attempt.toOpaque())
        guard status == 0 else { return attempt.takeRetainedValue().end(nil, NATS_NO_MEMORY) }
        pthread_detach(thread)
    }

    private func run() {
        var connection: OpaquePointer?
        let status = natsConnection_Connect(&connection, options)
        end(connection, status)
        nats_ReleaseThreadMemory()
    }

    private func end(_ connection: OpaquePointer?, _ status: natsStatus) {
        natsOptions_Destroy(options)
        if let connection, status == NATS_OK {
            news.ended(.connected(connection))
        } else {
            news.ended(.failed(status))
            served.release()
        }
    }
}
