import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// A broker that can't be replaced says why, and goes on as it was.
@Suite(.timeLimit(.minutes(1)))
struct HandOverRefusalTests {
    /// Runs a broker from a copy of its program, which the test may spoil.
    private func run(_ spoil: (String) throws -> Void, _ judge: (ReceivedFrame) throws -> Void) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = "\(folder.path)/strata-broker"
        try Self.copy(try BuiltExecutable.path("strata-broker"), to: program)
        try TestBus.run(.sixModules(), executable: program) { bus in
            let owner = try bus.provider("Ant", "Shop")
            let caller = try bus.module("Bee")
            let open = try caller.call("Shop/act", 1)
            let call = try owner.expectCall("Shop/act", 1)
            unlink(program)
            try spoil(program)
            let tool = try bus.operator()
            let answer = try tool.ask("bus/handOver", nil, ["deadline": 20_000], within: .seconds(20))
            #expect(answer.kind == "error" && answer.code == "unavailable" && answer.ran == "no", "\(answer)")
            #expect(answer.message.contains("goes on as it was"), "\(answer)")
            try judge(answer)
            try owner.reply(to: call, 2)
            try caller.expectReply(to: open, body: 2)
            // When the file is a broker again, it works.
            unlink(program)
            try Self.copy(try BuiltExecutable.path("strata-broker"), to: program)
            try tool.asked("bus/handOver")
            try caller.settle()
        }
    }

    private static func copy(_ source: String, to target: String) throws {
        let bytes = try [UInt8](contentsOf: source)
        try bytes.write(to: target)
    }

    @Test func aProgramThatIsGone() throws {
        try run({ _ in }, { #expect($0.message.contains("can't be started")) })
    }

    @Test func aProgramThatMayNotBeExecuted() throws {
        try run(
            { try Array("#!/bin/sh\n".utf8).write(to: $0, mode: 0o644) },
            { #expect($0.message.contains("can't be started")) })
    }

    @Test func aProgramThatFailsItsTrialIsQuoted() throws {
        try run(
            { try Array("#!/bin/sh\necho 'I am of version 2' >&2\nexit 4\n".utf8).write(to: $0) },
            {
                #expect($0.message.contains("exit code 4"))
                #expect($0.message.contains("I am of version 2"))
            })
    }

    @Test func aProgramThatHangsInItsTrialIsKilled() throws {
        try run(
            { try Array("#!/bin/sh\nexec sleep 600\n".utf8).write(to: $0) },
            { #expect($0.message.contains("5000 ms")) })
    }

    @Test func nobodyElsesFileIsAState() throws {
        let program = try BuiltExecutable.path("strata-broker")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = "\(folder.path)/state"
        try Array("strata state 5\n".utf8).write(to: file)
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let child = try ChildProgram(program, ["--resume", "3"], third: descriptor, label: "a broker")
        #expect(try child.wait() == .exit(2))
        #expect(child.outputText.contains("no sealed file"))
    }
}

extension [UInt8] {
    /// Makes a file of them.
    func write(to path: String, mode: mode_t = 0o755) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        try #require(descriptor >= 0)
        defer {
            close(descriptor)
            ProgramFile.settle(path)
        }
        var rest = self[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            try #require(count > 0)
            rest = rest.dropFirst(count)
        }
    }

    init(contentsOf path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(descriptor, &piece, piece.count)
            try #require(count >= 0)
            if count == 0 { break }
            bytes += piece[..<count]
        }
        self = bytes
    }
}
