import Glibc
import StrataCore
import StrataLoop
import TestSupport
import Testing

@testable import OtherBuild
@testable import StrataBus
@testable import StrataTesting

/// A broker takes over from a broker of another build, whose state has other fields.
@Suite(.timeLimit(.hang))
struct OtherBuildTests {
    /// A state from each build that changed the fields, made by an `OpenApp`.
    private static let states = "Tests/BusTests/States"
    /// The name under which this build's state is written to that folder, for later builds.
    private static let kept = getenv("STRATA_KEEP_STATE").map { String(cString: $0) }

    /// Opens an app on a bus in memory, changes the bus's state with `change`, continues from
    /// that state, and ends what was open.
    private func replace(_ change: ([UInt8]) throws -> [UInt8]) throws {
        let memory = MemoryBus(OpenApp.table, isLaunched: false)
        try TestBus(OpenApp.table, memory).run { bus in
            let app = try OpenApp(bus)
            try memory.resume(try change(try memory.writtenDown()))
            try app.finish()
        }
    }

    private func presentState() throws -> [UInt8] {
        var state: [UInt8] = []
        try replace {
            state = $0
            return $0
        }
        return state
    }

    private func fields(of state: [UInt8]) -> Set<StateRewriter.Path> {
        var rewriter = StateRewriter()
        #expect(rewriter.rewrite(state) == state)
        return rewriter.paths
    }

    @Test func everythingOpenContinuesInTheSameBuild() throws {
        try replace { $0 }
    }

    @Test(.promise("10.32")) func fieldsThatNoBuildKnowsArePassedOver() throws {
        try replace { state in
            var rewriter = StateRewriter(adds: true)
            let other = rewriter.rewrite(state)
            #expect(other.count > state.count + 100)
            return other
        }
    }

    /// To a build without rests, a star was literal anywhere in a pattern.
    @Test(.promise("10.32")) func aPatternWithAStarThatAnEarlierBuildTookStaysLiteral() throws {
        let memory = MemoryBus(.sixModules(), isLaunched: false)
        try TestBus(.sixModules(), memory).run { bus in
            let url: JSON = ["host": "shop", "path": "/a+b/+", "to": "Shop/show"]
            let owner = try bus.provider("Cat", "Shop", ["urls": [url]])
            let state = String(decoding: try memory.writtenDown().map { UInt16($0) }, as: UTF16.self)
            let parts = state.split(separator: "/a+b/+", omittingEmptySubsequences: false)
            #expect(parts.count > 1)
            try memory.resume(parts.joined(separator: "/a*b/*").utf16.map { UInt8($0) })
            try owner.open("test://shop/a*b/*")
            try owner.expectCall("Shop/show")
            try owner.expectError(to: try owner.open("test://shop/acb/d"), "unknown-path", ran: "no")
        }
    }

    @Test(.promise("9.15", "9.17")) func restsAndTheHostStarContinue() throws {
        let memory = MemoryBus(.sixModules(), isLaunched: false)
        try TestBus(.sixModules(), memory).run { bus in
            let urls: JSON = [
                ["host": "shop", "path": "/a/*rest", "to": "Shop/show"],
                ["host": "*", "path": "/*all", "to": "Shop/any"],
            ]
            let owner = try bus.provider("Cat", "Shop", ["urls": urls])
            try memory.resume(try memory.writtenDown())
            try owner.open("test://shop/a/b/c")
            try owner.expectCall("Shop/show", ["rest": "b/c"])
            try owner.open("test://else/b%20c/")
            try owner.expectCall("Shop/any", ["all": "b%20c"])
        }
    }

    /// Leaves out each field once. Either it is blank, or a contradiction to it is refused with a
    /// reason.
    @Test(.promise("10.32")) func aFieldThatIsMissingIsBlankOrRefused() throws {
        let state = try presentState()
        let all = fields(of: state)
        #expect(all.count > 150)
        var refused: [String] = []
        for path in all.sorted(by: { $0.lexicographicallyPrecedes($1) }) where path.last != 0 {
            var rewriter = StateRewriter(leavesOut: { $0 == path })
            let file = try sealed(rewriter.rewrite(state))
            defer { close(file) }
            do {
                let read = try StateFile.read(file)
                _ = try read.moduleRecords(try read.appTable())
            } catch { refused.append("\(path) \(error)") }
        }
        #expect(refused.count < 8, "\(refused)")
    }

    @Test func aCallWithoutADeadlineOfItsOwnHasNone() throws {
        // The expiry of the deadline, for all calls.
        var rewriter = StateRewriter(leavesOut: { $0 == [11, 0, 14, 1] })
        let file = try sealed(rewriter.rewrite(try presentState()))
        defer { close(file) }
        let calls = try StateFile.read(file).calls
        #expect(!calls.isEmpty && calls.allSatisfy { $0.deadline.expiry == Call.Deadline.never })
    }

    /// This build resumes a state of each build that changed the fields.
    @Test(.promise("10.32", "R.21"), arguments: try Repository.entries(Self.states))
    func aKeptStateIsResumed(_ name: String) throws {
        try replace { _ in try [UInt8](contentsOf: Repository.path("\(Self.states)/\(name)")) }
    }

    /// A build that changes the fields keeps a state for later builds.
    @Test(.promise("10.32")) func thisBuildsFieldsAreAmongTheKept() throws {
        let state = try presentState()
        if let kept = Self.kept {
            try WrittenProgram.write(state, to: Repository.path("\(Self.states)/\(kept).state"))
        }
        let newest = try #require(try Repository.entries(Self.states).last)
        let before = fields(of: try [UInt8](contentsOf: Repository.path("\(Self.states)/\(newest)")))
        let difference = fields(of: state).symmetricDifference(before).map { "\($0)" }.sorted()
        #expect(
            difference.isEmpty,
            """
            these fields came or went since \(newest), a part's as the tags that lead to it: keep a state of this \
            build with STRATA_KEEP_STATE=NAME swift test --filter thisBuildsFieldsAreAmongTheKept
            """)
    }

    /// Brokers of the two builds take turns under load, and no peer notices.
    @Test(.promise("10.32", "R.21")) func theBuildIsChangedBackAndForthUnderLoad() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = "\(folder.path)/strata-broker"
        func install(_ build: String) throws {
            unlink(program)
            try #require(symlink(try BuiltExecutable.path(build), program) == 0)
        }
        try install("strata-broker")
        try TestBus.run(.sixModules(), executable: program) { bus in
            let owner = try bus.provider("Ant", "Echo")
            let callers = [try bus.module("Bee"), try bus.module("Cat")]
            let observer = try bus.module("Cat2", ["observes": ["tick"]])
            let tool = try bus.operator()
            for round in 1...10 {
                try install(round.isMultiple(of: 2) ? "strata-broker" : "OtherBuild")
                var open: [(RawPeer, UInt64, JSON)] = []
                for caller in callers {
                    for number in 1...20 {
                        let body = JSON.integer(Int64(round * 100 + number))
                        open.append((caller, try caller.call("Echo/act", body), body))
                    }
                }
                let change = try tool.call("bus/handOver")
                try owner.send(["kind": "broadcast", "name": "tick"], body: .integer(Int64(round)))
                for _ in open {
                    let call = try owner.expectCall("Echo/act")
                    try owner.reply(to: call, call.json)
                }
                for (caller, id, body) in open { try caller.expectReply(to: id, body: body) }
                try tool.expectReply(to: change)
                try observer.expectNotice("tick", .integer(Int64(round)))
            }
            for peer in callers + [owner, observer, tool] { try peer.settle() }
        }
    }

    // MARK: Declarations

    /// A property that is not a field is silently lost at a hand-over.
    @Test(.promise("10.32")) func everyFieldOfEveryPartIsWritten() throws {
        /// Properties that are derived, or that another part writes.
        let others: [String: Set<String>] = [
            "BrokerState": ["queues", "handedOn"], "Statistics": ["codes"], "Deadline": ["timer", "bucket"],
            "ModuleSession": ["interfaces", "urls"], "SeenReports": ["numbers"], "Interface": ["adds"],
            "Action": ["nameBytes"], "URL": ["isPublic"], "AppStart": ["timedTurn"], "StartBarrier": ["progress"],
        ]
        /// The number of fields that are written in a special way.
        let more = ["Statistics": 1, "StartBarrier": 1, "ModuleSession": 1, "Brought": 1, "Secret": 1]
        var names: Set<String> = []
        func check(_ part: some StatePart) throws {
            let name = "\(type(of: part))"
            names.insert(name)
            let files = try StateFile.write(part)
            defer { files.close() }
            let written = fields(of: try [UInt8](contentsOf: "/proc/self/fd/\(files.state)")).count { $0.count == 1 }
            let stored = Mirror(reflecting: part).children.filter { child in
                let value = Mirror(reflecting: child.value)
                let isNil = value.displayStyle == .optional && value.children.isEmpty
                return !isNil && others[name]?.contains(child.label ?? "") != true
            }
            #expect(written == stored.count + (more[name] ?? 0), "\(name)")
        }
        try check(BrokerState())
        try check(ListenerState())
        try check(NextNumbers())
        try check(ModuleState())
        try check(AppTable.Secret())
        try check(MailboxState())
        try check(GapState())
        try check(HeldNoticeState())
        try check(RetainedState(object: []))
        try check(RetainedBroadcast.Terms())
        try check(RetainedWalkState())
        try check(DescriptorState())
        try check(InterfaceRecord.DescriptorTerms())
        try check(SuccessorState())
        try check(Successor.Brought())
        try check(ModuleSession())
        try check(LauncherWord())
        try check(LauncherWord.Vouch())
        try check(ModuleHistory())
        try check(ActionDeaths())
        try check(ActionDeaths.Entry(action: "", deaths: []))
        try check(ModuleDeath())
        try check(SeenReports())
        try check(StartTimes())
        try check(StartTimes.Moment())
        try check(StartTimes.OwnMark())
        try check(ReadyWaiterState())
        try check(Hello.Offer())
        try check(Hello.Interface())
        try check(InterfaceRecord.Action())
        try check(Hello.URL())
        try check(PeerState())
        try check(SessionSettings())
        try check(SettingKey())
        try check(PeerCredentials())
        try check(ProcessIdentity())
        try check(ObservationState())
        try check(Observation.Terms())
        try check(Observation.Target())
        try check(Outbox.Contents())
        try check(LauncherSlotState())
        try check(CallState())
        try check(RootState())
        try check(RequestLife())
        try check(Call.Deadline())
        try check(Call.Stream())
        try check(Call.Notices())
        try check(CallReferenceState())
        try check(HeldRequest.Copy())
        try check(InterfaceReference())
        try check(MemberRenaming([]))
        try check(AppTable.Rename(from: "", to: ""))
        try check(PurposeState())
        try check(EmissionState())
        try check(EmissionState.AnswerState())
        try check(InstanceState())
        try check(WatchState())
        try check(MonitorState())
        try check(LinkState())
        try check(NodeState())
        try check(Monitor.Wanted())
        try check(AlarmState())
        try check(AppStart())
        try check(StartBarrier())
        try check(Statistics())
        try check(Statistics.CountedCode())
        try check(HistogramState())
        // Lives are enums, and have tests of their own.
        names.formUnion(["ModuleLife", "PeerLife"])
        let declared = try Repository.sources("Sources/Bus").flatMap { try Repository.lines($0) }
            .compactMap {
                try Regex("(?:struct|class|enum|extension) ([A-Za-z.]+): (?:[A-Za-z]+, )*StatePart\\b").firstMatch(
                    in: $0)
            }
            .map { String($0[1].substring!.split(separator: ".").last!) }
        #expect(Set(declared) == names)
    }
}

private func sealed(_ bytes: [UInt8]) throws -> Int32 {
    let file = try MemoryFile.makeSealable("test")
    try #require(write(file, bytes, bytes.count) == bytes.count)
    try MemoryFile.seal(file)
    return file
}
