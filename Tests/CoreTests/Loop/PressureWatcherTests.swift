import Glibc
import StrataCore
import StrataLoop
import Testing

@Suite(.timeLimit(.hang))
struct PressureWatcherTests {
    @Test func whatIsWrittenIntoAFIFOIsPressure() throws {
        var template = Array("/tmp/strata-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let path = folder + "/pressure"
        try #require(mkfifo(path, 0o600) == 0)
        defer {
            unlink(path)
            rmdir(folder)
        }
        let loop = try Loop()
        var events = 0
        let watcher = try PressureWatcher(loop, path: path, trigger: Array("some 1 2".utf8)) {
            #expect($0 == .pressure)
            events += 1
        }
        // The trigger is not written to a pipe, because it would be read back.
        loop.runOnce()
        #expect(events == 0)
        for expected in 1...2 {
            let writing = open(path, O_WRONLY | O_NONBLOCK)
            #expect(write(writing, "now\n", 4) == 4)
            close(writing)
            while events < expected { loop.runOnce(waiting: true) }
        }
        loop.runOnce()
        #expect(events == 2)
        #expect(watcher.text() == "")
        watcher.close()
        watcher.close()
        loop.run()
    }

    /// The processor's pressure file works like the memory's, and is easy to trigger.
    @Test func theKernelTellsOfItsPressure() throws {
        let path = "/proc/pressure/cpu"
        let loop = try Loop()
        var events = 0
        let watcher: PressureWatcher
        do {
            watcher = try PressureWatcher(loop, path: path, trigger: Array("some 50000 2000000".utf8)) {
                #expect($0 == .pressure)
                events += 1
            }
        } catch {
            try Test.cancel("this kernel lets nobody watch \(path): \(error)")
        }
        #expect(watcher.text().hasPrefix("some avg10="))
        var busy: [ChildProcess] = []
        for _ in 0..<2 {
            let command = ChildProcess.Command(
                arguments: ["/usr/bin/taskset", "-c", "0", "/bin/sh", "-c", "while :; do :; done"],
                environment: ["PATH=/usr/bin:/bin"], folder: "/")
            busy.append(try ChildProcess(loop, command) { _ in })
        }
        while events == 0 { loop.runOnce(waiting: true) }
        for process in busy { process.kill(SIGKILL) }
        watcher.close()
        loop.run()
    }

    @Test(arguments: ["/nowhere/pressure", "/proc/self/status", "/etc/hostname", "/tmp"])
    func anyOtherFileIsRefused(path: String) throws {
        let loop = try Loop()
        #expect(throws: SystemError.self) {
            try PressureWatcher(loop, path: path, trigger: Array("some 1 2".utf8)) { _ in }
        }
        loop.run()
    }

    @Test func aTriggerThatTheKernelRefusesIsNamed() throws {
        let loop = try Loop()
        guard access("/proc/pressure/memory", W_OK) == 0 else { try Test.cancel("no pressure file to write to") }
        let error = #expect(throws: SystemError.self) {
            try PressureWatcher(loop, path: "/proc/pressure/memory", trigger: Array("some 9 8 7".utf8)) { _ in }
        }
        #expect(error.map { "\($0)".contains("ask /proc/pressure/memory for some 9 8 7") } == true)
        loop.run()
    }
}
