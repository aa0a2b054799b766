import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// `strata metrics --listen` as a process, and requests to it.
final class MetricsProcess {
    let folder: TemporaryFolder
    private let loop: Loop
    private var child: ChildProcess?
    private var reader: OutputReader?
    private var pending: [UInt8] = []
    private(set) var exit: ChildProcess.Exit?

    var socket: String { folder.path + "/metrics.sock" }
    var bus: String { folder.path + "/bus.sock" }
    /// The address that it printed.
    private(set) var place = ""

    /// - Parameter place: nil for a socket in its folder.
    init(listening place: String? = nil) throws {
        folder = try TemporaryFolder()
        loop = try Loop()
        let program = try #require(realpath("/proc/self/exe", nil))
        defer { free(program) }
        let path = String(cString: program)
        let executable = path[..<(path.lastIndex(of: "/") ?? path.endIndex)] + "/strata"
        var command = ChildProcess.Command(
            arguments: [String(executable), "metrics", "--socket", bus, "--listen", place ?? socket],
            environment: ["PATH=/usr/bin:/bin"], folder: folder.path)
        let output = try Pipe()
        command.descriptors = [nil, output.writing]
        child = try ChildProcess(loop, command) { [unowned self] in exit = $0 }
        output.closeWriting()
        reader = try OutputReader(
            loop, descriptor: output.reading, onBytes: { [unowned self] in pending += $0 }, onEnd: {})
        try until { pending.contains(UInt8(ascii: "\n")) }
        self.place = String(decoding: pending.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private func until(_ condition: () -> Bool) throws {
        let hasCome = loop.run(until: condition)
        try #require(hasCome, "it did not come about")
    }

    /// Ends it as ctrl-C does.
    func interrupt() throws -> ChildProcess.Exit? {
        child?.kill(SIGINT)
        try until { exit != nil }
        return exit
    }

    func cleanUp() {
        if exit == nil {
            child?.kill(SIGKILL)
            try? until { exit != nil }
        }
        child?.close()
        reader?.close()
        loop.runOnce()
    }

    /// Runs a block while the process is stopped. Whatever is sent in the block is there at once
    /// when it continues.
    func whileHalted(_ block: () throws -> Void) throws {
        child?.kill(SIGSTOP)
        defer { child?.kill(SIGCONT) }
        try until { UpProcess.state(of: child?.pid ?? 0) == "T" }
        try block()
    }

    /// Connects to its socket or its port.
    func connect() throws -> Int32 {
        let descriptor: Int32
        let status: Int32
        if let port = place.firstMatch(of: /:(\d+)\/metrics/).flatMap({ UInt16($0.1) }) {
            descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(place.contains("127.0.0.2") ? 0x7F00_0002 : 0x7F00_0001).bigEndian
            status = withUnsafeBytes(of: &address) { Self.connect(descriptor, $0) }
        } else {
            descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
            status = withUnsafeBytes(of: &address) { Self.connect(descriptor, $0) }
        }
        try #require(status == 0, "\(String(cString: strerror(errno)))")
        var patience = timeval(tv_sec: Int(TestBus.patience.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    private static func connect(_ descriptor: Int32, _ address: UnsafeRawBufferPointer) -> Int32 {
        Glibc.connect(
            descriptor, address.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
    }

    /// Sends bytes, and reads the whole answer.
    func ask(_ text: String, endsWriting: Bool = false) throws -> String {
        let descriptor = try connect()
        defer { close(descriptor) }
        Self.send(text, to: descriptor)
        if endsWriting { shutdown(descriptor, Int32(SHUT_WR)) }
        return Self.readToEnd(descriptor)
    }

    static func send(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads an answer, which must end in order, because a reset might have discarded a part of
    /// it.
    static func readToEnd(_ descriptor: Int32, _ location: SourceLocation = #_sourceLocation) -> String {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else {
                #expect(count == 0, "\(String(cString: strerror(errno)))", sourceLocation: location)
                return String(decoding: all, as: UTF8.self)
            }
            all += piece[..<count]
        }
    }

    /// Whether the server has closed completely, so that further bytes are refused.
    /// - Parameter seconds: how long to wait for that.
    static func isClosedByServer(_ descriptor: Int32, by seconds: Int64 = TestBus.patience.components.seconds) -> Bool {
        var closed = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&closed, 1, Int32(seconds) * 1_000) == 1 && closed.revents & Int16(POLLHUP) != 0
    }

    static let get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Returns the answer to a good request.
    func metrics() throws -> OpenMetricsText {
        let answer = try ask(Self.get)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
        return try OpenMetricsText(Self.body(of: answer))
    }

    static func body(of answer: String) -> String {
        answer.firstRange(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? ""
    }
}
