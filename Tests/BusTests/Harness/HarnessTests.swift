import Dispatch
import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// Tests of the harness itself: what it reports when an expectation fails, and what it leaves
/// behind.
@Suite(.timeLimit(.hang))
struct HarnessTests {
    /// Returns the message with which a test fails.
    private func failure(_ table: AppTable = .sixModules(), _ test: (TestBus) throws -> Void) -> String {
        do {
            try TestBus.run(table, test)
            return "it passed"
        } catch {
            return "\(error)"
        }
    }

    @Test func aFailureShowsTheReceivedFrameAndItsPlace() {
        let message = failure { bus in
            let peer = try bus.module("Ant")
            try peer.call("Nobody/act", id: 9)
            try peer.expect(["kind": "reply", "id": 9])
        }
        #expect(message.contains("HarnessTests.swift:"))
        #expect(message.contains("Ant: expected"))
        #expect(message.contains(#"{"kind":"reply","id":9}"#))
        #expect(message.contains("unknown-interface"))
    }

    @Test func aFailureSaysThatNothingWasReceived() {
        let message = failure { bus in
            try bus.module("Ant").expect(["kind": "call"], within: .milliseconds(20))
        }
        #expect(message.contains("within") && message.contains("nothing was received"))
    }

    @Test func aFailureSaysThatTheConnectionEnded() {
        let message = failure { bus in
            let peer = try bus.connect("stranger")
            try peer.send(["kind": "nonsense"])
            try peer.find(["kind": "call"])
        }
        #expect(message.contains("the connection ended") && message.contains("not-registered"))
    }

    @Test(arguments: ["expectNothing", "expectEnd", "expectError", "expectReply", "expectRefusal"])
    func eachExpectationCanFail(name: String) {
        let message = failure { bus in
            let peer = try bus.module("Ant", ["observes": ["news"]])
            let id = try peer.report("news", to: "Ant")
            switch name {
            case "expectNothing": try peer.expectNothing()
            case "expectEnd": try peer.expectEnd(within: .milliseconds(20))
            case "expectError":
                try peer.reply(to: try peer.expectNotice("news"))
                try peer.expectError(to: id, "died")
            case "expectReply":
                try peer.fail(try peer.expectNotice("news"), "Ant.no")
                try peer.expectReply(to: id)
            default:
                try peer.expectRefusal(of: try peer.call("bus/nothing"), "forbidden")
            }
        }
        #expect(message.contains("HarnessTests.swift:") && message.contains("Ant"), "\(message)")
    }

    @Test func aPlayedModuleAnswersWhatItsScriptExpects() throws {
        try TestBus.run(.sixModules()) { bus in
            try bus.play("Ant", provides: ["Storage"]) { script in
                script.expectCall("Storage/get", ["key": "a"]).reply(["value": 1])
                script.expectCall("Storage/put").broadcast("storage.changed", ["key": "b"]).fail("Storage.full")
                script.answers("Storage/size") { _ in ["size": 3] }
            }
            let caller = try bus.module("Bee", ["observes": ["storage.changed"]])
            #expect(try caller.asked("Storage/size") == ["size": 3])
            #expect(try caller.asked("Storage/get", ["key": "a", "more": true]) == ["value": 1])
            #expect(try caller.asked("Storage/size") == ["size": 3])
            try caller.refused("Storage/put", with: "Storage.full", ran: "yes")
            try caller.expectNotice("storage.changed", ["key": "b"])
        }
    }

    @Test func aScriptFailsTheTestForWhatItDoesNotExpect() {
        let message = failure { bus in
            try bus.play("Ant", provides: ["Storage"]) { $0.expectCall("Storage/get").reply() }
            try bus.module("Bee").asked("Storage/put", ["key": "a"])
        }
        #expect(message.contains("the script of Ant waits for") && message.contains("Storage/put"), "\(message)")
    }

    @Test func aScriptWithUnmetStepsFailsTheTest() throws {
        let bus = try TestBus(.sixModules())
        defer { try? bus.stop() }
        try bus.play("Ant", provides: ["Storage"]) { $0.expectCall("Storage/get").reply() }
        let error = #expect(throws: TestFailure.self) { try bus.finishScripts(within: .milliseconds(20)) }
        #expect(error?.description.contains("Ant still waits for") == true)
    }

    @Test(arguments: [false, true])
    func nothingIsLeftWhetherATestPassesOrThrows(throwing: Bool) throws {
        var folder = ""
        var pid: Int32 = 0
        struct Wanted: Error {}
        do {
            try TestBus.run(.sixModules(), executable: try BuiltExecutable.path("strata-broker")) { bus in
                folder = bus.folder
                let module = try bus.start("/bin/cat", as: "Ant", ["/dev/zero"], waits: false)
                pid = module.pid
                #expect(kill(pid, 0) == 0)
                _ = try bus.module("Bee")
                if throwing { throw Wanted() }
            }
        } catch is Wanted {}
        #expect(access(folder, F_OK) != 0)
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
    }

    /// Its output and how it ended are reported at once, long before its time is over.
    @Test(arguments: ["", "sleep 600 & echo $! > left; "])
    func aModuleThatEndsDuringItsStartIsReportedAtOnce(leaving: String) throws {
        let script = "\(leaving)echo 'no configuration' >&2; exit 7"
        let message = failure { bus in
            defer { HarnessTests.endLeft(bus) }
            _ = try bus.module("Bee")
            try bus.start("/bin/sh", as: "Ant", ["-c", script])
        }
        #expect(message.contains("HarnessTests.swift:") && !message.contains("within"), "\(message)")
        #expect(message.contains("Ant ended with exit code 7 and was not ready"), "\(message)")
        #expect(message.contains("Ant wrote:\nno configuration"), "\(message)")
        #expect(message.contains(#""module":"Ant","state":"starting""#), "\(message)")
    }

    /// Ends a process that the script has left behind, with its output open.
    private static func endLeft(_ bus: TestBus) {
        guard let folder = try? bus.folder(of: "Ant"), let file = fopen("\(folder)/left", "r") else { return }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 16)
        let count = fread(&text, 1, text.count, file)
        if let pid = Int32(String(decoding: text[..<max(0, count - 1)], as: UTF8.self)) { kill(pid, SIGKILL) }
    }

    @Test func aFailureShowsTheLastFrames() {
        let message = failure { bus in
            let peer = try bus.module("Ant", ["observes": ["news"]])
            for number in 0..<20 as Range<Int64> { try peer.report("news", to: "Ant", .integer(number)) }
            try peer.settle()
            try peer.find(["kind": "call"], within: .milliseconds(20))
        }
        #expect(message.contains("12 frames before these") && message.contains("+ 19"), "\(message)")
        #expect(!message.contains("+ 11"), "\(message)")
    }

    @Test func aModuleWorksInAFolderOfItsOwnThatGoesWithTheBus() throws {
        var folder = ""
        try TestBus.run(.sixModules()) { bus in
            folder = try bus.folder(of: "Ant")
            #expect(access(folder, F_OK) == 0)
            for _ in 0..<2 {
                let module = try bus.start("/bin/sh", as: "Ant", ["-c", "pwd; echo x >> made"], waits: false)
                #expect(try module.wait() == .exit(0))
                #expect(module.outputText == "\(folder)\n")
            }
            // The files that it has written are still there when it is started again.
            #expect(try [UInt8](contentsOf: "\(folder)/made") == Array("x\nx\n".utf8))
            let other = try bus.start("/bin/sh", as: "Bee", ["-c", "pwd"], folder: "/", waits: false)
            #expect(try other.wait() == .exit(0) && other.outputText == "/\n")
        }
        #expect(access(folder, F_OK) != 0)
    }

    @Test func aProgramsPathCountsFromTheTestsFolder() throws {
        // However deep this folder is, the path leads to the root.
        let path = String(repeating: "../", count: 64) + "bin/sh"
        let child = try ChildProgram(path, ["-c", "pwd"], folder: "/tmp")
        #expect(try child.wait() == .exit(0) && child.outputText == "/tmp\n")
    }

    @Test func aBrokerThatDoesNotStartSaysWhy() throws {
        let error = #expect(throws: TestFailure.self) { try TestBus(.sixModules(), executable: "/bin/false") }
        #expect(error?.description.contains("no broker listens") == true)
        #expect(throws: TestFailure.self) { try TestBus(.sixModules(), executable: "/nowhere/strata-broker") }
    }

    @Test func aProcessThatDoesNotEndIsAFailureThatShowsItsOutput() throws {
        let child = try ChildProgram("/bin/sh", ["-c", "echo hello; exec cat /dev/zero >/dev/null"])
        #expect(child.firstLine() == "hello")
        let error = #expect(throws: TestFailure.self) { try child.wait(within: .milliseconds(100)) }
        #expect(error?.description.contains("did not end") == true)
        child.kill()
        #expect(child.end == .signal(SIGKILL))
        #expect(child.outputText == "hello\n")
    }

    @Test func matchingLooksAtTheMembersThatThePatternHas() {
        let json: JSON = ["a": 1, "b": ["c": [1, 2], "d": "x"]]
        for pattern in [[:], ["a": 1], ["a": 1.0], ["b": ["d": "x"]], ["b": ["c": [1, 2]]]] as [JSON] {
            #expect(json.matches(pattern), "\(pattern)")
        }
        for pattern in [["a": 2], ["c": 1], ["b": ["c": [1]]], ["b": "x"], ["a": nil], "a"] as [JSON] {
            #expect(!json.matches(pattern), "\(pattern)")
        }
    }

    @Test(.promise("S.7")) func aPlayedRowBringsWhatItProvides() throws {
        let table = AppTable.testing(.manual("Shop", provides: ["Shop", "Cart"]), .manual("Bee", rank: 1))
        try TestBus.run(table) { bus in
            let shop = try bus.module("Shop")
            let bee = try bus.module("Bee")
            let id = try bee.call("Cart/add", 1)
            try shop.reply(to: try shop.expectCall("Cart/add"), 2)
            try bee.expectReply(to: id, body: 2)
            shop.close()
            try bus.play("Shop") { $0.expectCall("Shop/open").reply(["open": true]) }
            try bus.operator().expect("Shop/open", gives: ["open": true])
        }
    }

    @Test(.promise("S.7")) func anAnswerThatIsNotTheExpectedOneIsShown() {
        let message = failure { bus in
            try bus.play("Ant", provides: ["Storage"]) { $0.expectCall("Storage/get").reply(["value": 1]) }
            try bus.operator().expect("Storage/get", gives: ["value": 2])
        }
        #expect(message.contains(#"expected Storage/get to give {"value":2}, but received"#), "\(message)")
        #expect(message.contains(#"{"value":1}"#) && message.contains("HarnessTests.swift:"))
    }

    @Test(.promise("S.7")) func aManifestIsTheTable() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/strata.yaml"
        try WrittenProgram.write(
            """
            app: shop
            levels: [low, high]
            calls: declared
            modules:
              Store: {run: [store], provides: [Store]}
              Till: {level: high, run: [till], requires: [Store]}
            """, to: path)
        let table = try AppTable.manifest(path)
        #expect(table.app == "shop" && table.levels == ["low", "high"] && table.calls == .declared)
        #expect(table.modules.map(\.start) == [.manual, .manual] && table.modules[1].rank == 1)
        try TestBus.run(table) { bus in
            try bus.play("Store") { $0.answers("Store/get") { _ in 1 } }
            #expect(try bus.module("Till").asked("Store/get") == 1)
        }
        try WrittenProgram.write("app: shop\nmodules: {A: {levl: low}}", to: path)
        let failure = #expect(throws: TestFailure.self) { try AppTable.manifest(path) }
        #expect(failure?.description.contains("levl") == true)
    }

    @Test(.promise("S.8")) func testsThatWaitLeaveTheSharedThreadsToOthers() async throws {
        // More tests than there are threads. Each waits until all have begun, which the shared threads say.
        let count = 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let doors = (0..<count).map { _ in DispatchSemaphore(value: 0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for door in doors {
                group.addTask {
                    try await TestBus.run(.testing(.manual("Ant"))) { bus in
                        begin.yield()
                        guard door.wait(timeout: .now() + .seconds(60)) == .success else {
                            throw TestFailure("the door stays shut", file: #fileID, line: #line)
                        }
                        try bus.module("Ant").settle()
                    }
                }
            }
            group.addTask {
                var left = count
                for await _ in begun {
                    left -= 1
                    if left == 0 { break }
                }
                for door in doors { door.signal() }
            }
            try await group.waitForAll()
        }
    }

    @Test(.promise("S.8")) func aFailureOnAThreadOfItsOwnBelongsToItsTest() async throws {
        let test = Test.current?.name
        let found = try await TestBus.run(.testing(.manual("Ant"))) { _ in Test.current?.name }
        #expect(found == test && test != nil)
    }
}
