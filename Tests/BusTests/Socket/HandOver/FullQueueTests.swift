import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// A broker with full queues: the bytes that it writes for the next program.
@Suite(.timeLimit(.hang))
struct FullQueueTests {
    /// The sizes of the files that a program was given, as it saw them.
    private struct Given {
        var trial = 0
        var state = 0
        var queues = 0
    }

    /// Makes a broker's program that records the files that it is given.
    private func recordingProgram(_ folder: TemporaryFolder) throws -> String {
        let program = "\(folder.path)/strata-broker"
        let script = """
            #!/bin/bash
            case "$1" in
            --try) stat -L -c 'trial %s' /proc/self/fd/3 >> '\(folder.path)/given' ;;
            --resume)
                for fd in /proc/$$/fd/*; do
                    case "$(readlink "$fd")" in
                    /memfd:strata-state*) stat -L -c 'state %s' "$fd" ;;
                    /memfd:strata-queues*) stat -L -c 'queues %s' "$fd" ;;
                    esac
                done >> '\(folder.path)/given' ;;
            esac
            exec -a "$0" '\(try BuiltExecutable.path("strata-broker"))' "$@"

            """
        try WrittenProgram.write(script, to: program)
        return program
    }

    private func given(_ folder: TemporaryFolder) throws -> Given {
        var given = Given()
        let text = String(decoding: try [UInt8](contentsOf: "\(folder.path)/given"), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            switch words[0] {
            case "trial": given.trial = Int(words[1]) ?? 0
            case "state": given.state = Int(words[1]) ?? 0
            default: given.queues = Int(words[1]) ?? 0
            }
        }
        return given
    }

    /// The trial gets none of the waiting bytes. The next program gets each body once, even if
    /// several peers wait for it.
    @Test(.promise("10.31", "R.23")) func bodiesAreWrittenOnceAndNotForTheTrial() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try TestBus.run(.sixModules(), executable: try recordingProgram(folder)) { bus in
            let sender = try bus.provider("Ant", "Big")
            let observers = try ["Bee", "Bee2", "Cat", "Cat2"].map { try bus.module($0, ["observes": ["shared"]]) }
            for observer in observers { observer.isPaused = true }
            let shared = JSON.filler(2_000_000)
            for _ in 0..<2 { try sender.broadcast("shared", shared) }
            let caller = observers[0]
            let own = JSON.filler(1_500_000)
            let call = try caller.call("Big/act")
            try sender.reply(to: try sender.find(["kind": "call", "to": "Big/act"]), own)
            try sender.settle()

            try bus.operator().asked("bus/handOver")

            let given = try given(folder)
            #expect(given.trial > 0 && given.trial < 64 << 10)
            #expect(given.state > 0 && given.state < 256 << 10)
            #expect(given.queues > 5_400_000 && given.queues < 5_700_000, "\(given)")
            // Again, from the file that the first hand-over left.
            try bus.operator().asked("bus/handOver")
            #expect(try self.given(folder).queues == given.queues)
            for observer in observers {
                observer.isPaused = false
                for _ in 0..<2 { try observer.expectNotice("shared", shared) }
            }
            try caller.expectReply(to: call, body: own)
            try sender.settle()
        }
    }

    /// With a limit on the size of files, the hand-over is refused with figures before anything
    /// is written.
    @Test(.promise("10.31", "R.24")) func whatDoesNotFitIsRefusedWithItsFigures() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = try recordingProgram(folder)
        let limited = "\(folder.path)/limited"
        try WrittenProgram.write(
            "#!/bin/bash\nulimit -f $((70 << 10))\nexec -a '\(program)' '\(program)' \"$@\"\n", to: limited)
        try TestBus.run(.sixModules(), executable: limited) { bus in
            let owner = try bus.provider("Ant", "Big")
            let callers = try (0..<2).map { _ in try bus.connect("caller") }
            for caller in callers {
                try caller.hello(role: "operator")
                caller.isPaused = true
                try caller.call("Big/act")
                try owner.reply(to: try owner.expectCall("Big/act"), .filler(7_500_000))
            }
            try owner.settle()
            let answer = try bus.operator().ask("bus/handOver")
            #expect(answer.code == "unavailable" && answer.ran == "no", "\(answer)")
            #expect(answer.message.contains("15 MiB wait, 7 MiB of them from or for operator"), "\(answer.message)")
            #expect(answer.message.contains("ulimit -f leaves 70 MiB"), "\(answer.message)")
            #expect(access("\(folder.path)/given", F_OK) != 0, "nothing was written, and nothing was tried")
            for caller in callers {
                caller.isPaused = false
                _ = try caller.next()
                try caller.settle()
            }
            try bus.operator().asked("bus/handOver")
        }
    }
}
