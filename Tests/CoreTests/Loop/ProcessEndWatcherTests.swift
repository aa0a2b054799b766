import Glibc
import StrataCore
import StrataLoop
import Testing

@Suite(.timeLimit(.hang))
struct ProcessEndWatcherTests {
    private func command(_ script: String) -> ChildProcess.Command {
        .init(arguments: ["/bin/sh", "-c", script], environment: [], folder: "/")
    }

    private func process(_ child: ChildProcess) throws -> ProcessIdentity {
        try #require(ProcessIdentity(pid: child.pid))
    }

    @Test(arguments: ["exit 0", "kill -9 $$"])
    func theEndOfAProcessIsToldOnce(script: String) throws {
        let loop = try Loop()
        var exit: ChildProcess.Exit?
        var ends = 0
        let child = try ChildProcess(loop, command(script)) { exit = $0 }
        let watcher = try ProcessEndWatcher(loop, process(child)) { ends += 1 }
        // It returns when both are closed.
        loop.run()
        #expect(exit != nil && ends == 1)
        #expect(watcher.isClosed)
        watcher.close()
    }

    @Test func whereThereIsNoProcessItSaysSo() throws {
        let loop = try Loop()
        let child = try ChildProcess(loop, command("exit 0")) { _ in }
        let ended = try process(child)
        loop.run()
        // Its process id may belong to another process.
        let other = ProcessIdentity(pid: getpid(), startTicks: ProcessIdentity.own.startTicks + 1)
        for process in [ended, other] {
            let error = #expect(throws: SystemError.self) {
                try ProcessEndWatcher(loop, process) { Issue.record("nobody's end was told") }
            }
            #expect(error?.code == ESRCH)
            #expect(error?.description.contains("\(process.pid)") == true)
        }
        loop.run()
    }

    @Test func closedBeforeTheEndItTellsNothing() throws {
        let loop = try Loop()
        var hasEnded = false
        let child = try ChildProcess(loop, command("exit 0")) { _ in hasEnded = true }
        let watcher = try ProcessEndWatcher(loop, process(child)) { Issue.record("the end was told all the same") }
        watcher.close()
        loop.run()
        #expect(hasEnded)
    }
}
