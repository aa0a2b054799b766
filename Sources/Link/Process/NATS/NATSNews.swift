internal import CNATS
internal import Glibc
internal import StrataLoop
internal import Synchronization

/// What libnats tells of one connection from its own threads, until the loop takes it: its side of an event loop.
///
/// libnats calls these functions with its connection locked, and from any thread. They only note what it wants, and
/// wake the loop. The descriptor is duplicated, because libnats closes its own at any moment: its number could be
/// another socket's before the loop has heard of it.
///
/// `@unchecked Sendable` because the lock protects the state, and of the loop only `isCurrent` is used.
final class NATSNews: @unchecked Sendable {
    /// What has happened since the loop last looked.
    struct News: Sendable {
        /// The descriptor of the connection, which the taker closes.
        var descriptor: Int32?
        /// The end of the attempt to connect: the connection, or why there is none.
        var outcome: Outcome?
        /// The connection is lost: libnats no longer reads it.
        var isLost = false
    }

    /// `@unchecked Sendable` because the thread that connects hands the connection over.
    enum Outcome: @unchecked Sendable {
        case connected(OpaquePointer)
        case failed(natsStatus)
    }

    private struct State {
        var news = News()
        var wantsWriting = false
        var isAbandoned = false
        /// This object's own descriptor of the connection, until libnats has closed it.
        var own: Int32 = -1
    }

    private let state = Mutex(State())
    private let wake: WakeUp
    private let loop: Loop

    init(_ loop: Loop, wake: WakeUp) {
        self.loop = loop
        self.wake = wake
    }

    func take() -> News {
        state.withLock { state in
            defer { state.news = News() }
            return state.news
        }
    }

    /// Whether libnats has something to write.
    var wantsWriting: Bool { state.withLock { $0.wantsWriting } }

    /// The loop takes nothing any more. What it hasn't taken is closed, now or when it comes.
    func abandon() {
        let news = state.withLock { state in
            state.isAbandoned = true
            defer { state.news = News() }
            return state.news
        }
        if let descriptor = news.descriptor { close(descriptor) }
        if case .connected(let connection) = news.outcome { natsConnection_Destroy(connection) }
    }

    // MARK: - What other threads call

    /// Notes the end of the attempt to connect.
    func ended(_ outcome: Outcome) {
        let isAbandoned = state.withLock { state in
            if !state.isAbandoned { state.news.outcome = outcome }
            return state.isAbandoned
        }
        if isAbandoned, case .connected(let connection) = outcome { natsConnection_Destroy(connection) }
        wake.send()
    }

    private func attached(_ descriptor: Int32) -> natsStatus {
        let (copy, own) = (strata_duplicate(descriptor), strata_duplicate(descriptor))
        guard copy >= 0, own >= 0 else {
            for descriptor in [copy, own] where descriptor >= 0 { close(descriptor) }
            return NATS_SYS_ERROR
        }
        let isAbandoned = state.withLock { state in
            state.own = own
            if !state.isAbandoned { state.news.descriptor = copy }
            return state.isAbandoned
        }
        if isAbandoned { close(copy) }
        wake.send()
        return NATS_OK
    }

    private func lost() {
        state.withLock { $0.news.isLost = true }
        wake.send()
    }

    /// libnats has closed its descriptor. The loop's thread may still wait for the rest of a record of TLS at it, which
    /// the close of one of several descriptors doesn't end.
    private func detached() {
        let own = state.withLock { state in
            defer { state.own = -1 }
            return state.own
        }
        guard own >= 0 else { return }
        shutdown(own, Int32(SHUT_RDWR))
        close(own)
    }

    private func wantsWriting(_ wants: Bool) {
        state.withLock { $0.wantsWriting = wants }
        // The loop looks at the end of each round by itself.
        if wants, !loop.isCurrent { wake.send() }
    }
}

extension NATSNews {
    private static func at(_ pointer: UnsafeMutableRawPointer?) -> NATSNews {
        // because it is retained until libnats says that the connection is closed, which it says last
        Unmanaged<NATSNews>.fromOpaque(pointer!).takeUnretainedValue()
    }

    /// Makes libnats use the loop, and say what happens here.
    /// - Returns: a retained reference, which the end of the connection releases; the caller does so where none is made.
    func serve(_ options: OpaquePointer) -> Unmanaged<NATSNews> {
        let retained = Unmanaged.passRetained(self)
        let pointer = retained.toOpaque()
        natsOptions_SetEventLoop(
            options, pointer,
            { data, loop, _, descriptor in
                data!.pointee = loop
                return NATSNews.at(loop).attached(descriptor)
            },
            { data, adds in
                if !adds { NATSNews.at(data).lost() }
                return NATS_OK
            },
            { data, adds in
                NATSNews.at(data).wantsWriting(adds)
                return NATS_OK
            },
            { data in
                NATSNews.at(data).detached()
                return NATS_OK
            })
        natsOptions_SetClosedCB(options, { Unmanaged<NATSNews>.fromOpaque($1!).release() }, pointer)
        return retained
    }
}
