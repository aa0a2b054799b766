import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Synchronization
import Testing

/// Connecting to a listener that many peers connect to.
@Suite(.timeLimit(.hang)) struct SocketConnectTests {
    /// A peer that only tries again would get no turn while other peers try more often.
    @Test(.promise("13.11")) func aFullBacklogIsWaitedFor() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/socket"
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listening) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(status == 0 && listen(listening, 0) == 0)
        let loop = try Loop()
        let first = try Socket.connect(loop, path: path)
        let helper = Helper(of: ownThread, listening)
        let second = Result { try Socket.connect(loop, path: path) }
        helper.end()
        #expect(throws: Never.self) { try second.get().close() }
        first.close()
        loop.run()
    }

    /// The folder of the calling thread.
    private var ownThread: String {
        var path = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/thread-self", &path, path.count)
        return "/proc/" + String(decoding: path[..<max(0, count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Accepts a connection once a thread is asleep.
    private final class Helper: Sendable {
        private let isOver = Atomic(false)
        private let thread = Mutex<pthread_t?>(nil)
        private let watched: String
        private let listening: Int32

        init(of watched: String, _ listening: Int32) {
            self.watched = watched
            self.listening = listening
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { helper in
                    Unmanaged<Helper>.fromOpaque(helper!).takeRetainedValue().run()
                    return nil
                }, Unmanaged.passRetained(self).toOpaque())
            self.thread.withLock { $0 = thread }
        }

        private func run() {
            while !isOver.load(ordering: .relaxed) {
                guard isAsleep else {
                    sched_yield()
                    continue
                }
                close(accept(listening, nil, nil))
                return
            }
        }

        /// Reads the state, which follows the name in parentheses.
        private var isAsleep: Bool {
            guard let file = fopen("\(watched)/stat", "r") else { return false }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = fread(&bytes, 1, bytes.count, file)
            guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return false }
            return bytes[end + 2] == UInt8(ascii: "S")
        }

        func end() {
            isOver.store(true, ordering: .relaxed)
            if let thread = thread.withLock({ $0 }) { pthread_join(thread, nil) }
        }
    }
}
