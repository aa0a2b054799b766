import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// A broker that can't be replaced reports the reason, and continues as it was.
@Suite(.timeLimit(.hang))
struct HandOverRefusalTests {
    /// Runs a broker from a copy of its program, which the test may damage.
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
            let answer = try tool.ask("bus/handOver", nil, ["deadline": 600_000])
            #expect(answer.kind == "error" && answer.code == "unavailable" && answer.ran == "no", "\(answer)")
            #expect(answer.message.contains("continues as it was"), "\(answer)")
            try judge(answer)
            try owner.reply(to: call, 2)
            try caller.expectReply(to: open, body: 2)
            // When the file is a broker again, the hand-over works.
            unlink(program)
            try Self.copy(try BuiltExecutable.path("strata-broker"), to: program)
            try tool.asked("bus/handOver")
            try caller.settle()
        }
    }

    private static func copy(_ source: String, to target: String) throws {
        let bytes = try [UInt8](contentsOf: source)
        try WrittenProgram.write(bytes, to: target)
    }

    @Test(.promise("R.22")) func aProgramThatIsGone() throws {
        try run({ _ in }, { #expect($0.message.contains("can't be started")) })
    }

    @Test func aProgramThatMayNotBeExecuted() throws {
        try run(
            { try WrittenProgram.write("#!/bin/sh\n", to: $0, mode: 0o644) },
            { #expect($0.message.contains("can't be started")) })
    }

    @Test(.promise("R.22")) func aProgramThatFailsItsTrialIsQuoted() throws {
        try run(
            { try WrittenProgram.write("#!/bin/sh\necho 'I am of version 2' >&2\nexit 4\n", to: $0) },
            {
                #expect($0.message.contains("exit code 4"))
                #expect($0.message.contains("I am of version 2"))
            })
    }

    @Test(.promise("R.22")) func aProgramThatHangsInItsTrialIsKilled() throws {
        try run(
            { try WrittenProgram.write("#!/bin/sh\nexec sleep 600\n", to: $0) },
            { #expect($0.message.contains("5000 ms")) })
    }

    /// Each program takes the broker's place in turn, and the broker continues.
    @Test(.promise("10.30", "R.22")) func noOtherProgramPassesATrial() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = "\(folder.path)/strata-broker"
        let real = try BuiltExecutable.path("strata-broker")
        func script(_ text: String) -> (String) throws -> Void {
            { try WrittenProgram.write("#!/bin/sh\n\(text)\n", to: $0) }
        }
        func file(_ bytes: [UInt8]) -> (String) throws -> Void { { try WrittenProgram.write(bytes, to: $0) } }
        func link(_ path: String) -> (String) throws -> Void { { try #require(symlink(path, $0) == 0) } }
        var generator = SeededGenerator(11)
        let noise = (0..<4_096).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let hello = "strata state 10\\n"
        let cases: [(name: String, make: (String) throws -> Void, says: String)] = [
            ("true", link("/bin/true"), "exit code 0, but said nothing"),
            ("echo", link("/bin/echo"), "said \"--try 3\""),
            ("cat", link("/bin/cat"), "exit code 1"),
            ("a script that does nothing", script("exit 0"), "said nothing"),
            ("one that repeats the state", script("cat /proc/self/fd/3"), "strata state 10"),
            (
                "one that answers with as many bytes",
                script("printf 'understood \(hello)'; head -c 16 /dev/urandom"), "exit code 0, but said"
            ),
            ("one that says it in words only", script("echo 'understood' >&2"), "said \"understood\""),
            ("one that says much", script("exec yes"), "said more than 65536 bytes"),
            ("one that is killed", script("kill -9 $$"), "signal 9"),
            ("noise", file(noise), "is not a program"),
            ("a shell's text", file(Array("touch \(folder.path)/ran\n".utf8)), "is not a program"),
            ("nothing", file([]), "is not a program"),
            (
                "half of a program", file(Array("\u{7F}ELF\u{2}\u{1}".utf8) + [UInt8](repeating: 1, count: 58)),
                "is not a program"
            ),
            ("a folder", { try #require(mkdir($0, 0o755) == 0) }, "can't be started"),
            (
                "a broker that another file takes the place of meanwhile",
                script("'\(real)' \"$@\" && cp /bin/true \"$0.new\" && mv \"$0.new\" \"$0\""),
                "was changed after it was tried"
            ),
        ]
        try link(real)(program)
        try TestBus.run(.sixModules(), executable: program) { bus in
            let tool = try bus.operator()
            let descriptors = try bus.openDescriptors()
            for one in cases {
                unlink(program)
                rmdir(program)
                try one.make(program)
                let answer = try tool.ask("bus/handOver", nil, ["deadline": 600_000])
                #expect(answer.code == "unavailable" && answer.ran == "no", "\(one.name): \(answer)")
                #expect(answer.message.contains(one.says), "\(one.name): \(answer.message)")
                #expect(answer.message.contains(program), "\(one.name): \(answer.message)")
            }
            #expect(access("\(folder.path)/ran", F_OK) != 0, "no text is given to a shell")
            try tool.settle()
            #expect(try bus.openDescriptors() == descriptors, "no descriptor is left of a trial")
            unlink(program)
            try link(real)(program)
            try tool.asked("bus/handOver")
            // The broker answers before it closes its state's file.
            try tool.settle()
            #expect(try bus.openDescriptors() == descriptors)
        }
    }

    /// All requests during a trial get that trial's answer.
    @Test(.promise("10.30")) func oneTrialAnswersAllRequests() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (log, go) = ("\(folder.path)/log", "\(folder.path)/go")
        let program = "\(folder.path)/strata-broker"
        try Self.copy(try BuiltExecutable.path("strata-broker"), to: program)
        try TestBus.run(.sixModules(), executable: program) { bus in
            unlink(program)
            try WrittenProgram.write(
                "#!/bin/sh\necho tried >> '\(log)'\nuntil [ -e '\(go)' ]; do sleep 0.01; done\n", to: program)
            let tool = try bus.operator()
            let ids = try (0..<200).map { _ in try tool.call("bus/handOver") }
            // All requests have been read before the trial is over.
            try tool.settle()
            try WrittenProgram.write("", to: go)
            for id in ids { try tool.expectError(to: id, "unavailable", ran: "no") }
            let tries = try [UInt8](contentsOf: log).filter { $0 == 0x0A }.count
            #expect(tries == 1)
        }
    }

    @Test func anotherProgramsFileIsNotAState() throws {
        let program = try BuiltExecutable.path("strata-broker")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = "\(folder.path)/state"
        try WrittenProgram.write("strata state 10\n", to: file)
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let child = try ChildProgram(program, ["--resume", "3"], third: descriptor, label: "a broker")
        #expect(try child.wait() == .exit(2))
        #expect(child.outputText.contains("not a sealed file"))
    }
}

extension [UInt8] {
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
