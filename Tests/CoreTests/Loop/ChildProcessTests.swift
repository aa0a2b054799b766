import Glibc
import StrataCore
import StrataLoop
import Testing

@Suite(.timeLimit(.hang))
struct ChildProcessTests {
    private func command(_ script: String) -> ChildProcess.Command {
        .init(arguments: ["/bin/sh", "-c", script], environment: ["COLOUR=red"], folder: "/")
    }

    @Test(
        arguments: [
            ("exit 0", .code(0)), ("exit 7", .code(7)), ("kill -9 $$", .signal(9)), ("kill -TERM $$", .signal(15)),
        ]
            as [(String, ChildProcess.Exit)])
    func theEndOfAChildIsTold(script: String, expected: ChildProcess.Exit) throws {
        let loop = try Loop()
        var exit: ChildProcess.Exit?
        let child = try ChildProcess(loop, command(script)) { exit = $0 }
        #expect(child.pid > 0)
        loop.run()
        #expect(exit == expected)
        #expect(!child.kill(SIGTERM))
    }

    @Test func whatCannotBeStartedThrowsAndLeavesTheLoopUsable() throws {
        let loop = try Loop()
        let missing = ChildProcess.Command(arguments: ["/nowhere/program"], environment: [], folder: "/")
        let error = #expect(throws: SystemError.self) {
            try ChildProcess(loop, missing) { _ in Issue.record("it ran") }
        }
        #expect(error?.code == ENOENT)
        var exit: ChildProcess.Exit?
        _ = try ChildProcess(loop, command("exit 3")) { exit = $0 }
        loop.run()
        #expect(exit == .code(3))
    }

    @Test func aChildsOutputIsReadToItsEnd() throws {
        let loop = try Loop()
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        var text: [UInt8] = []
        var hasEnded = false
        var command = command("echo $COLOUR; pwd; echo to stderr >&2; echo ${HOME-none}")
        command.descriptors = [nil, ends[1], ends[1]]
        _ = try ChildProcess(loop, command) { _ in }
        close(ends[1])
        _ = try OutputReader(loop, descriptor: ends[0], onBytes: { text += Array($0) }, onEnd: { hasEnded = true })
        loop.run()
        #expect(hasEnded)
        #expect(String(decoding: text, as: UTF8.self) == "red\n/\nto stderr\nnone\n")
    }

    @Test func aChildIsEndedByASignal() throws {
        let loop = try Loop()
        var exit: ChildProcess.Exit?
        // It reads from a pipe that is never written to.
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var command = ChildProcess.Command(arguments: ["/bin/cat"], environment: [], folder: "/")
        command.descriptors = [ends[0], nil, nil]
        let child = try ChildProcess(loop, command) { exit = $0 }
        #expect(child.kill(SIGTERM))
        loop.run()
        #expect(exit == .signal(SIGTERM))
    }
}
