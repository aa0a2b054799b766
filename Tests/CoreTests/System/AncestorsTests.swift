import Glibc
import StrataCore
import StrataLoop
import Testing

/// Which process descends from which, and which process a connection belongs to.
@Suite(.timeLimit(.hang))
struct AncestorsTests {
    /// A process table that a test makes, with a count of the looks at it.
    private final class Table {
        var processes: [Int32: ProcessStatus] = [1: ProcessStatus(parent: 0, startTicks: 1)]
        var looks = 0
        /// Called before each look, with its number.
        var onLook: (Int, Int32) -> Void = { _, _ in }

        /// Adds a chain of processes. The parent of each is the one before it, and the first
        /// one's is 1.
        @discardableResult
        func chain(_ pids: Int32...) -> Table {
            var parent: Int32 = 1
            for pid in pids {
                processes[pid] = ProcessStatus(parent: parent, startTicks: UInt64(pid) * 10)
                parent = pid
            }
            return self
        }

        func status(_ pid: Int32) -> ProcessStatus? {
            looks += 1
            onLook(looks, pid)
            return processes[pid]
        }

        func process(_ pid: Int32) -> ProcessIdentity {
            ProcessIdentity(pid: pid, startTicks: processes[pid]?.startTicks ?? 0)
        }

        func descent(of pid: Int32, from ancestor: ProcessIdentity) -> Ancestors.Descent {
            Ancestors.descent(of: process(pid), from: ancestor, status: status)
        }
    }

    @Test func aChainIsFollowedToItsEnd() {
        let table = Table().chain(10, 20, 30)
        table.chain(40)
        #expect(table.descent(of: 30, from: table.process(10)) == .descends)
        #expect(table.descent(of: 20, from: table.process(10)) == .descends)
        #expect(table.descent(of: 10, from: table.process(10)) == .itself)
        #expect(table.descent(of: 10, from: table.process(20)) == .unrelated)
        #expect(table.descent(of: 40, from: table.process(10)) == .unrelated)
    }

    @Test(.promise("5.30")) func aNumberThatIsAnothersNowIsNoAncestor() {
        let table = Table().chain(10, 20)
        #expect(table.descent(of: 20, from: ProcessIdentity(pid: 10, startTicks: 99)) == .unrelated)
        let former = ProcessIdentity(pid: 20, startTicks: 7)
        #expect(Ancestors.descent(of: former, from: table.process(10), status: table.status) == .unknown)
    }

    @Test(.promise("5.30")) func aProcessThatIsGoneIsUnknown() {
        let table = Table().chain(10)
        let gone = ProcessIdentity(pid: 20, startTicks: 200)
        #expect(Ancestors.descent(of: gone, from: table.process(10), status: table.status) == .unknown)
        #expect(table.looks == 3)
    }

    /// If a step vanishes, the walk starts again, three times in all.
    @Test(.promise("5.30"), arguments: [1, 2, 3])
    func aWalkBeginsAnewWhereAStepVanished(times: Int) {
        let table = Table().chain(10, 20, 30)
        var vanished = 0
        table.onLook = { _, pid in
            // The middle process ends just before the look at it, and is there again for the next
            // walk.
            let isGone = pid == 20 && vanished < times
            if isGone { vanished += 1 }
            table.processes[20] = isGone ? nil : ProcessStatus(parent: 10, startTicks: 200)
        }
        #expect(table.descent(of: 30, from: table.process(10)) == (times < 3 ? .descends : .unknown))
        #expect(vanished == times)
    }

    /// The parent's id belongs to another process by the time of the look. Its child has another
    /// parent by then.
    @Test(.promise("5.30")) func aParentThatWasReusedBetweenTwoLooksIsNotFollowed() {
        let table = Table().chain(10, 20, 30)
        let launcher = table.process(10)
        table.onLook = { look, _ in
            guard look == 2 else { return }
            table.processes[20] = ProcessStatus(parent: 1, startTicks: 500)
            table.processes[30]?.parent = 10
        }
        #expect(table.descent(of: 30, from: launcher) == .descends)
    }

    @Test func aChainWithoutEndIsUnknownAndFollowedOnlySoFar() {
        let table = Table()
        for pid in Int32(2)...2_000 {
            table.processes[pid] = ProcessStatus(parent: pid - 1, startTicks: UInt64(pid))
        }
        #expect(table.descent(of: 2_000, from: table.process(5)) == .unknown)
        #expect(table.looks <= 2 * 256 + 1)
    }

    @Test func theLineOfAProcessIsReadWhateverItsNameIs() {
        func status(_ name: String, _ state: String, threads: Int = 1) -> ProcessStatus? {
            let line = "77 (\(name)) \(state) 5 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 \(threads) 0 123456 9 9\n"
            return Array(line.utf8).withUnsafeBytes { ProcessStatus($0) }
        }
        for name in ["sh", "a b", ") Z 1 1", "((", ""] {
            #expect(status(name, "S") == ProcessStatus(parent: 5, startTicks: 123_456), "\(name)")
        }
        #expect(status("sh", "Z")?.hasEnded == true)
        // Its first thread has ended, but other threads continue.
        #expect(status("sh", "Z", threads: 2)?.hasEnded == false)
        #expect(status("sh", "X")?.hasEnded == true)
        for line in ["", "77", "77 (sh)", "77 (sh) S 5 77"] {
            #expect(Array(line.utf8).withUnsafeBytes { ProcessStatus($0) } == nil)
        }
    }

    // MARK: the process that connected

    private var own: PeerCredentials {
        PeerCredentials(pid: getpid(), uid: 0, gid: 0, seenAt: ProcessIdentity.own.startTicks)
    }

    @Test(.promise("5.31")) func withoutADescriptorWhatWasStartedAfterTheConnectionIsAnother() {
        #expect(ConnectedProcess.unsupported.look(own) { $0 } == .own)
        var earlier = own
        earlier.seenAt -= 1
        #expect(ConnectedProcess.unsupported.look(earlier) { $0 } == nil)
        var gone = own
        gone.pid = .max
        #expect(ConnectedProcess.unsupported.look(gone) { $0 } == nil)
        #expect(ConnectedProcess.ended.look(own) { $0 } == nil)
    }

    /// A process that ends during the look has ended, reaped or not.
    @Test(.promise("5.30", "5.31"), arguments: [true, false])
    func whatEndsWhileItIsLookedAtIsGone(hasDescriptor: Bool) throws {
        var pid: pid_t = 0
        let words = [strdup("/bin/sleep"), strdup("600"), nil]
        defer { words.forEach { free($0) } }
        try #require(posix_spawn(&pid, "/bin/sleep", nil, nil, words, environ) == 0)
        let process: ConnectedProcess = hasDescriptor ? .descriptor(pidfd_open(pid, 0)) : .unsupported
        let peer = PeerCredentials(pid: pid, uid: 0, gid: 0, seenAt: .max)
        let seen: Void? = process.look(peer) { seen in
            #expect(seen.pid == pid && seen.isAlive)
            kill(pid, SIGKILL)
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            #expect(!seen.isAlive && ProcessIdentity(pid: pid) == seen)
        }
        #expect(seen == nil)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }
}

/// The C library's function. Swift's module of it lacks the header.
@_silgen_name("pidfd_open")
private func pidfd_open(_ pid: Int32, _ flags: UInt32) -> Int32
