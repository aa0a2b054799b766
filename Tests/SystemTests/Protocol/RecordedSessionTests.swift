import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// The session in docs/session.md is replayed to a broker. Its answers are those of the page, to the
/// byte, and nothing else.
@Suite(.timeLimit(.hang))
struct RecordedSessionTests {
    @Test(.promise("15.1", "M.43")) func theBrokerSaysWhatThePageSays() throws {
        let page = try Self.page()
        let manifest = try #require(Self.block("yaml", in: page))
        let session = try #require(Self.block("session", in: page))
        let app = try UpProcess(manifest.joined(separator: "\n"))
        defer { app.cleanUp() }
        try app.start("broker")
        try app.until { SocketAddress.occupant(app.socket) == .live }
        var peers: [String: RecordedPeer] = [:]
        var frames = 0
        for line in session where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 4).map(String.init)
            let peer = try peers[words[0]] ?? RecordedPeer(app.socket)
            peers[words[0]] = peer
            switch words[1] {
            case ">":
                try peer.send(Self.bytes(words))
                frames += 1
            case "<":
                let wanted = Self.bytes(words)
                let got = try peer.read(wanted.count)
                try #require(
                    got == wanted, "the page: \(line)\ncame: \(String(decoding: got.dropFirst(8), as: UTF8.self))")
                frames += 1
            case "closes": peer.close()
            default: #expect(try peer.read(1).isEmpty, "\(line)")
            }
        }
        #expect(frames > 50)
        for (name, peer) in peers { #expect(peer.isQuiet, "more came to \(name) than the page says") }
        for peer in peers.values { peer.close() }
        app.signal(SIGTERM)
        #expect(try app.ended() == .code(0))
    }

    private static func page() throws -> [String] {
        try Array(Repository.lines("docs/session.md").drop { $0 != "## A session, byte by byte" })
    }

    /// The lines of the first fenced block of a language.
    private static func block(_ language: String, in lines: [String]) -> [String]? {
        guard let start = lines.firstIndex(of: "```\(language)") else { return nil }
        return Array(lines[(start + 1)...].prefix { $0 != "```" })
    }

    /// `PEER > LENGTH LENGTH REST` as it stands on the wire.
    private static func bytes(_ words: [String]) -> [UInt8] {
        let lengths = words[2...3].flatMap { word -> [UInt8] in
            let number = UInt32(word, radix: 16) ?? 0
            return (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        }
        return lengths + Array(words[4].utf8)
    }
}

/// A connection that reads and writes bytes, and knows nothing of frames.
private final class RecordedPeer {
    private var descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0, "connect to \(path): error \(errno)")
    }

    deinit { close() }

    func send(_ bytes: [UInt8]) throws {
        try #require(Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// So many bytes; less where the connection ends, or nothing comes in `TestBus.patience`.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var have = 0
        while have < count {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Int32(TestBus.patience.components.seconds) * 1_000) > 0 else { break }
            let came = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + have, count - have, 0) }
            guard came > 0 else { break }
            have += came
        }
        return Array(bytes.prefix(have))
    }

    /// Whether nothing is there to be read but, perhaps, the end.
    var isQuiet: Bool {
        guard descriptor >= 0 else { return true }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) <= 0
    }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
        descriptor = -1
    }
}
