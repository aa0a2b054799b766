import Glibc
import StrataCore
import Testing

/// `strata metrics --listen` over real sockets.
@Suite(.timeLimit(.hang))
struct MetricsServerTests {
    @Test(.promise("M.67")) func aBusMayGoAndComeBack() throws {
        let server = try MetricsProcess()
        defer { server.cleanUp() }
        #expect(server.place == server.socket)
        #expect(try server.metrics().value("strata_up") == 0)
        for _ in 0..<2 {
            let bus = FakeBus(at: server.bus, script: CommandMetricsTests.script)
            let text = try server.metrics()
            #expect(text.value("strata_up") == 1 && text.value("strata_bus_calls_total") == 8)
            bus.close()
            let without = try server.metrics()
            #expect(without.value("strata_up") == 0 && without.families.count == 1)
        }
        // A bus that refuses, and a bus that ends in between.
        let refusing = FakeBus(at: server.bus) { _ in [.error("forbidden", "no")] }
        #expect(try server.metrics().value("strata_up") == 0)
        refusing.close()
        let leaving = FakeBus(at: server.bus) { $0.to == "bus/modules" ? [.close] : [] }
        #expect(try server.metrics().value("strata_up") == 0)
        leaving.close()
        // A silent bus has two seconds.
        let silent = FakeBus(at: server.bus) { _ in [] }
        #expect(try server.metrics().value("strata_up") == 0)
        silent.close()
        #expect(try server.interrupt() == .code(0))
        #expect(access(server.socket, F_OK) != 0, "the socket's file is left")
    }

    @Test func aPortIsThisMachinesAlone() throws {
        let server = try MetricsProcess(listening: "0")
        defer { server.cleanUp() }
        #expect(server.place.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/metrics/) != nil, "\(server.place)")
        let bus = FakeBus(at: server.bus, script: CommandMetricsTests.script)
        defer { bus.close() }
        #expect(try server.metrics().value("strata_up") == 1)
        let answer = try server.ask(MetricsProcess.get)
        #expect(
            answer.contains("\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"))
        let length = answer.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) }
        #expect(length == MetricsProcess.body(of: answer).utf8.count)
    }

    @Test(.promise("M.67")) func requestsThatAreNoneAreToldSo() throws {
        let server = try MetricsProcess()
        defer { server.cleanUp() }
        func status(_ request: String) throws -> String {
            let answer = try server.ask(request)
            return String(answer.dropFirst("HTTP/1.1 ".count).prefix(3))
        }
        #expect(try status("GET / HTTP/1.1\r\nHost: a\r\n\r\n") == "404")
        #expect(try status("GET /metrics/x HTTP/1.1\r\nHost: a\r\n\r\n") == "404")
        #expect(try status("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc") == "405")
        #expect(try server.ask("PUT /metrics HTTP/1.1\r\nHost: a\r\n\r\n").contains("\r\nAllow: GET, HEAD\r\n"))
        #expect(try status("GET /metrics HTTP/1.1\r\n\r\n") == "400", "no host")
        #expect(try status("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == "400")
        #expect(try status("GET  /metrics HTTP/1.1\r\nHost: a\r\n\r\n") == "400")
        #expect(try status("GET /metrics HTTP/2\r\nHost: a\r\n\r\n") == "400")
        #expect(try status("GET /metrics HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n") == "400")
        #expect(try status("\u{16}\u{3}\u{1}\n\n") == "400", "TLS")
        #expect(try status("GET /metrics?x=1 HTTP/1.0\r\n\r\n") == "200")
        #expect(try status("GET http://a/metrics HTTP/1.1\r\nHost: a\r\n\r\n") == "200")
        #expect(try status("GET /metrics HTTP/1.1\nHost: a\n\n") == "200", "typed by hand")
        let head = try server.ask("HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200 ") && MetricsProcess.body(of: head) == "")
        #expect(try server.ask(MetricsProcess.get, endsWriting: true).hasPrefix("HTTP/1.1 200 "))
    }

    @Test(.promise("M.67")) func aRequestHasBoundsOfSizeAndTime() throws {
        let server = try MetricsProcess()
        defer { server.cleanUp() }
        let long = "GET /metrics HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 9_000))\r\n\r\n"
        #expect(try server.ask(long).hasPrefix("HTTP/1.1 431 "))
        let fits = "GET /metrics HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 8_100))\r\n\r\n"
        #expect(try server.ask(fits).hasPrefix("HTTP/1.1 200 "))
        // It waits five seconds for the rest of the request.
        #expect(try server.ask("GET /metrics HTTP/1.1\r\n").hasPrefix("HTTP/1.1 408 "))
    }

    /// Opens as many connections as may be, which wait for a silent bus, and then others. They
    /// all arrive together, because they don't wait long.
    private func crowd(
        _ server: MetricsProcess, _ count: Int = 1, saying text: String = ""
    ) throws -> (waiting: [Int32], others: [Int32]) {
        var connections: [Int32] = []
        try server.whileHalted {
            for number in 0..<16 + count {
                connections.append(try server.connect())
                MetricsProcess.send(number < 16 ? MetricsProcess.get : text, to: connections[number])
            }
        }
        return (Array(connections[..<16]), Array(connections[16...]))
    }

    @Test(.promise("M.67"), arguments: [nil, "0"]) func silentAndSlowConnectionsGiveWay(place: String?) throws {
        let server = try MetricsProcess(listening: place)
        defer { server.cleanUp() }
        let bus = FakeBus(at: server.bus, script: CommandMetricsTests.script)
        defer { bus.close() }
        // Silent connections, some with half a head, and connections that have an answer and
        // don't close.
        let silent = try (0..<16).map { _ in try server.connect() }
        for descriptor in silent.prefix(8) { MetricsProcess.send("GET /metrics HT", to: descriptor) }
        let answered = try (0..<20).map { _ in
            let descriptor = try server.connect()
            MetricsProcess.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", to: descriptor)
            return descriptor
        }
        defer { for descriptor in silent + answered { close(descriptor) } }
        for _ in 0..<30 { #expect(try server.metrics().value("strata_up") == 1) }
        // The oldest one was closed first.
        var byte: UInt8 = 0
        #expect(recv(silent[0], &byte, 1, 0) == 0)
    }

    /// A web page that lets its own name lead here (DNS rebinding).
    @Test(.promise("M.67")) func aPortAnswersToItsOwnNamesOnly() throws {
        let server = try MetricsProcess(listening: "127.0.0.2:0")
        defer { server.cleanUp() }
        let port = server.place.firstMatch(of: /:(\d+)\//)?.1 ?? ""
        func status(_ host: String, _ target: String = "/metrics") throws -> String {
            let answer = try server.ask("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            return String(answer.dropFirst("HTTP/1.1 ".count).prefix(3))
        }
        for host in ["localhost", "LocalHost", "127.0.0.1", "[::1]", "127.0.0.2"] {
            #expect(try status(host) == "200" && status("\(host):\(port)") == "200" && status("  \(host):1\t") == "200")
        }
        for host in [
            "evil.example", "evil.example:\(port)", "127.0.0.1.evil.example", "localhost.evil", "10.0.0.1", "", "a:b",
        ] {
            #expect(try status(host) == "421", "\(host)")
        }
        #expect(try status("localhost", "http://evil.example/metrics") == "421")
        #expect(try server.ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").contains("this host isn't served: name"))
        #expect(try server.ask("GET /metrics HTTP/1.0\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    }

    @Test(.promise("M.67")) func whereEveryAddressIsAskedForEachIsMeant() throws {
        let server = try MetricsProcess(listening: "0.0.0.0:0")
        defer { server.cleanUp() }
        #expect(try server.ask("GET /metrics HTTP/1.1\r\nHost: 10.1.2.3:9464\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(try server.ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").hasPrefix("HTTP/1.1 421 "))
    }

    @Test(.promise("M.67")) func oneConnectionMoreThanMayWaitIsRefused() throws {
        let server = try MetricsProcess()
        defer { server.cleanUp() }
        let bus = FakeBus(at: server.bus) { _ in [] }
        defer { bus.close() }
        let (waiting, others) = try crowd(server)
        defer { for descriptor in waiting + others { close(descriptor) } }
        #expect(MetricsProcess.readToEnd(others[0]).hasPrefix("HTTP/1.1 503 "))
        // The waiting connections are still served.
        for descriptor in waiting { #expect(MetricsProcess.readToEnd(descriptor).hasPrefix("HTTP/1.1 200 ")) }
    }

    /// A process that closes with unread bytes resets the connection.
    @Test(.promise("M.67"), arguments: [nil, "0"]) func aRefusedRequestIsReadSoThatItsAnswerArrives(place: String?)
        throws
    {
        let server = try MetricsProcess(listening: place)
        defer { server.cleanUp() }
        let bus = FakeBus(at: server.bus) { _ in [] }
        defer { bus.close() }
        let (waiting, others) = try crowd(server, saying: MetricsProcess.get)
        defer { for descriptor in waiting + others { close(descriptor) } }
        #expect(MetricsProcess.readToEnd(others[0]).hasPrefix("HTTP/1.1 503 "))
    }

    @Test(.promise("M.67")) func refusedConnectionsHaveBoundsOfNumberSizeAndTime() throws {
        let server = try MetricsProcess()
        defer { server.cleanUp() }
        let bus = FakeBus(at: server.bus) { _ in [] }
        defer { bus.close() }
        let begin = ContinuousClock.now
        let (waiting, refused) = try crowd(server, 17)
        defer { for descriptor in waiting + refused { close(descriptor) } }
        for descriptor in refused { #expect(MetricsProcess.readToEnd(descriptor).hasPrefix("HTTP/1.1 503 ")) }
        // The oldest one gives way to the last.
        #expect(MetricsProcess.isClosedByServer(refused[0]))
        let size = 1 << 20
        var sent = 0
        while sent <= 4 * size {
            let piece = [UInt8](repeating: 0, count: 64 << 10)
            let count = send(refused[1], piece, piece.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { break }
            sent += count
        }
        let isOpen = !MetricsProcess.isClosedByServer(refused[2], by: 0)
        // If all this took as long as they have, they are closed for that reason.
        if ContinuousClock.now - begin < .seconds(5) {
            // What its socket holds was not read.
            #expect(isOpen && (size...2 * size).contains(sent), "\(sent)")
        }
        #expect(MetricsProcess.isClosedByServer(refused[2]))
        #expect(ContinuousClock.now - begin >= .seconds(5))
    }

    @Test func aPathThatIsTakenIsRefused() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("there", "text")
        let run = try await CommandRun.of(["metrics", "--socket", "/tmp/none.sock", "--listen", file])
        #expect(run.status == 2 && run.error.contains("is not a socket"))
        let server = try MetricsProcess()
        defer { server.cleanUp() }
        let second = try await CommandRun.of(["metrics", "--socket", "/tmp/none.sock", "--listen", server.socket])
        #expect(second.status == 2 && second.error.contains("another process listens"))
        #expect(try server.metrics().value("strata_up") == 0)
    }
}
