import Foundation
import StrataCore
import StrataReplay
import Testing

/// `strata record`: what it writes, and when it ends.
@Suite(.timeLimit(.hang))
struct CommandRecordTests {
    private static let frames = [
        #"{"at":1000000,"kind":"call","from":"Notes","to":"Storage/get","callee":"Storage","id":7,"bytes":2,"body":{}}"#,
        #"{"at":1000001,"kind":"call","from":"Cart","to":"Session/open","callee":"Session","id":8,"bytes":0}"#,
        #"{"at":1000002,"missed":3,"kind":"reply","from":"Session","to":"Cart","id":8,"bytes":0}"#,
        #"{"at":1000003,"kind":"error","from":"bus","to":"Notes","id":7,"code":"died","bytes":0}"#,
        #"{"at":1000004,"kind":"call","from":"launcher","to":"bus/moduleState","callee":"bus","bytes":9,"body":{"module":"Storage"}}"#,
        #"{"at":1000005,"kind":"call","from":"launcher","to":"bus/vouch","callee":"bus","bytes":9,"body":{"module":"Storage","token":"t0k"}}"#,
        #"{"at":1000006,"kind":"call","from":"operator","to":"launcher/lend","callee":"launcher","id":9,"bytes":9,"body":{"module":"Cart"}}"#,
        #"{"at":1000007,"kind":"reply","from":"launcher","to":"operator","id":9,"bytes":9,"body":{"token":"t0k"}}"#,
    ]

    private func record(
        _ words: [String], frames: [String] = frames, output: CommandRun.Output = .pipe
    ) async throws -> (run: CommandRun, packets: [JSON], asked: [FakeBus.Asked]) {
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { request in
            request.to == "bus/monitor" ? frames.map { .partial($0) } + [.error("shutting-down", "")] : [.reply("{}")]
        }
        defer { bus.close() }
        let file = "\(folder.path)/r.pcapng"
        let run = try await CommandRun.of(
            ["record", file] + words, environment: ["STRATA_SOCKET": bus.path], output: output)
        return (run, try Self.packets(file), bus.asked)
    }

    private static func packets(_ file: String) throws -> [JSON] {
        var (reader, packets) = (CaptureReader(), [JSON]())
        reader.add(try Data(contentsOf: URL(fileURLWithPath: file)))
        while let packet = try reader.nextPacket() { packets.append(try JSON(parsing: Array(packet))) }
        #expect(!reader.isCut)
        return packets
    }

    @Test(.promise("M.166")) func theFramesAreWrittenAsTheyComeWithoutTokens() async throws {
        let found = try await record([])
        #expect(found.run.status == 0 && found.run.output == "", "\(found.run)")
        #expect(found.asked.last?.body == #"{"bodies":true}"#)
        let heading = try #require(found.packets.first)
        #expect(heading["kind"] == "recording" && heading["app"] == "fake" && heading["bodies"] == true)
        #expect(found.packets.dropFirst().map { $0["at"]?.integer } == (1_000_000...1_000_007).map { $0 })
        #expect(found.packets[1]["body"] == [:] && found.packets[2]["body"] == nil)
        #expect(found.packets.allSatisfy { !"\($0)".contains("t0k") })
        #expect(found.packets.suffix(3).map { $0["omitted"]?.string } == ["secret", nil, "secret"])
        #expect(found.run.error.contains("9 packets") && found.run.error.contains("3 came too fast"), "\(found.run)")
    }

    @Test(.promise("M.166")) func aModulesFramesAndTheEndsOfItsCallsAreKept() async throws {
        func times(_ words: String...) async throws -> [Int64?] {
            try await record(words).packets.dropFirst().map { $0["at"]?.integer.map { $0 - 1_000_000 } }
        }
        #expect(try await times("--module", "Storage") == [0, 3, 4, 5])
        #expect(try await times("--module", "Session") == [1, 2])
        #expect(try await times("--module", "Session,Notes") == [0, 1, 2, 3])
        // What was missed before a frame that isn't recorded is told with the next one.
        #expect(
            try await record(["--module", "Storage"]).packets.map { $0["missed"]?.integer } == [nil, nil, 3, nil, nil])
    }

    @Test(.promise("M.166")) func bodiesAreNotAskedForIfTheyAreNotWanted() async throws {
        let found = try await record(["--no-bodies"])
        #expect(found.asked.last?.body == "{}" && found.packets.first?["bodies"] == false)
    }

    @Test(.promise("M.166")) func aFullFileEndsTheRecordingAndSaysSo() async throws {
        let text = String(repeating: "x", count: 60_000)
        let large = #"{"at":1,"kind":"call","from":"A","to":"B/c","id":1,"body":"\#(text)"}"#
        let found = try await record(["--most", "1"], frames: Array(repeating: large, count: 40))
        #expect(found.run.status == 0 && found.run.error.contains("--most 1 MiB are reached"), "\(found.run)")
        #expect((10...18).contains(found.packets.count))
    }

    @Test(.promise("M.166")) func anExistingFileStaysAsItIs() async throws {
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { _ in [.reply("{}")] }
        defer { bus.close() }
        let file = "\(folder.path)/notes.txt"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: file))
        let environment = ["STRATA_SOCKET": bus.path]
        var run = try await CommandRun.of(["record", file], environment: environment)
        #expect(run.status == 2 && run.error.contains("it exists already, and isn't replaced"), "\(run)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("precious".utf8))
        run = try await CommandRun.of(["record", "-"], environment: environment, output: .terminal(columns: 80))
        #expect(run.status == 2 && run.error.contains("isn't text for a terminal"), "\(run)")
        run = try await CommandRun.of(["record", "\(folder.path)/no/file"], environment: environment)
        #expect(run.status == 2 && run.error.contains("No such file"), "\(run)")
        run = try await CommandRun.of(["record", file, "--most", "0"], environment: environment)
        #expect(run.status == 2 && run.error.contains("1 to 65536 MiB"), "\(run)")
    }
}
