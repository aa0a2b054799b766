import Glibc
import StrataCore
import StrataTesting
import Testing

@testable import StrataLauncher

/// Control groups, with a folder of plain files instead of the kernel. If this machine has a
/// writable cgroup v2, the kernel is tested, too.
@Suite(.timeLimit(.hang))
struct ControlGroupTests {
    /// A folder with the files that the kernel would make in each group.
    private final class FakeKernel {
        let root: String

        init(controllers: String = "cpu memory pids", processes: String = "77\n") throws {
            var template = Array("/tmp/strata-groups-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            populate("", ["cgroup.procs": processes, "cgroup.controllers": controllers, "cgroup.subtree_control": ""])
        }

        deinit {
            for group in ["launcher", "Store-1", "Store-2", ""] {
                for file in Self.files { unlink("\(root)/\(group)/\(file)") }
                rmdir("\(root)/\(group)")
            }
        }

        private static let files = [
            "cgroup.procs", "cgroup.controllers", "cgroup.subtree_control", "cgroup.kill", "memory.max",
            "memory.events",
            "memory.oom.group",
        ]

        /// Makes a group's folder with its files.
        func group(_ name: String, events: String = "oom_kill 0\n") {
            mkdir("\(root)/\(name)", 0o755)
            populate(
                name,
                [
                    "cgroup.procs": "", "cgroup.kill": "", "memory.max": "", "memory.oom.group": "",
                    "memory.events": events,
                ])
        }

        private func populate(_ group: String, _ files: [String: String]) {
            for (name, text) in files {
                guard let file = fopen("\(root)/\(group)/\(name)", "w") else { continue }
                fputs(text, file)
                fclose(file)
            }
        }

        func text(_ file: String) -> String { ControlGroup.text(of: "\(root)/\(file)") }
    }

    @Test(.promise("M.18")) func delegatedGroupGetsItsMemoryControllerAndAChildForEachProcess() throws {
        let kernel = try FakeKernel()
        kernel.group("launcher")
        kernel.group("Store-1", events: "low 0\noom 1\noom_kill 2\n")
        let groups = try #require(ControlGroups(root: kernel.root, pid: 77))
        #expect(kernel.text("launcher/cgroup.procs") == "77")
        #expect(kernel.text("cgroup.subtree_control") == "+memory")
        let group = try #require(groups.make("Store", memory: 20 << 20))
        #expect(group.path == "\(kernel.root)/Store-1")
        #expect(kernel.text("Store-1/memory.max") == "20971520" && kernel.text("Store-1/memory.oom.group") == "1")
        #expect(group.add(123) && kernel.text("Store-1/cgroup.procs") == "123")
        #expect(group.memoryKills == 2)
        groups.end(group)
        #expect(kernel.text("Store-1/cgroup.kill") == "1")
        kernel.group("Store-2")
        _ = try #require(groups.make("Store", memory: nil))
        #expect(kernel.text("Store-2/memory.max") == "max")
        groups.close()
        #expect(kernel.text("cgroup.subtree_control") == "-memory")
    }

    @Test(.promise("M.18"), arguments: [("cpu pids", "77\n"), ("memory", "77\n78\n"), ("memory", "")])
    func whatWasNotDelegatedIsLeftAlone(controllers: String, processes: String) throws {
        let kernel = try FakeKernel(controllers: controllers, processes: processes)
        // It would work if it were tried.
        kernel.group("launcher")
        #expect(ControlGroups(root: kernel.root, pid: 77) == nil)
        #expect(kernel.text("launcher/cgroup.procs") == "")
        #expect(kernel.text("cgroup.subtree_control") == "" && kernel.text("cgroup.procs") == processes)
    }

    @Test(arguments: [
        ("0::/user.slice/app.service\n", "/user.slice/app.service"), ("4:memory:/x\n0::/\n", ""),
        ("4:memory:/x\n", nil),
    ])
    func ownPathIsBelowTheMount(membership: String, below: String?) {
        let mounts = """
            25 20 0:23 / /proc rw - proc proc rw
            30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
            """
        #expect(
            ControlGroups.ownPath(membership: membership, mounts: mounts) == below.map { "/sys/fs/cgroup\($0)" })
    }

    @Test func ownPathInAContainerThatSeesAPartOfTheTree() {
        let mounts = "30 25 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
        #expect(ControlGroups.ownPath(membership: "0::/docker/abc/x\n", mounts: mounts) == "/sys/fs/cgroup/x")
        #expect(ControlGroups.ownPath(membership: "0::/docker/abcd\n", mounts: mounts) == nil)
    }

    /// The parts that need no memory controller, with the kernel's own files.
    @Test(.promise("M.18")) func processesOfARealGroupAreKilledAndItGoes() throws {
        let mounts = ControlGroup.text(of: "/proc/self/mountinfo")
        guard let own = ControlGroups.ownPath(membership: ControlGroup.text(of: "/proc/self/cgroup"), mounts: mounts),
            let group = ControlGroup.make("\(own)/strata-test-\(getpid())")
        else { try Test.cancel("no cgroup v2 here that may be written") }
        defer { _ = group.remove() }
        guard group.mayWrite("cgroup.kill") else { try Test.cancel("this kernel has no cgroup.kill") }
        // Once it is in the group, it starts a process that leaves the session and ignores
        // SIGTERM.
        let script = """
            until grep -q \(group.path.split(separator: "/").last ?? "") /proc/$$/cgroup; do :; done
            setsid sh -c 'trap "" TERM; echo up; sleep 1000' & wait
            """
        let program = try ChildProgram("/bin/sh", ["-c", script])
        defer { program.kill() }
        #expect(group.add(program.pid))
        #expect(program.firstLine() == "up")
        #expect(group.processes.contains(program.pid) && group.processes.count >= 2)
        #expect(!group.remove())
        group.kill()
        #expect(try program.wait() == .signal(SIGKILL))
        // The other processes are not this process's children, so it can't wait for their end.
        while !group.remove() { poll(nil, 0, 1) }
    }

    @Test(.promise("M.18")) func killForMemoryIsToldAsSuch() {
        var machine = ModuleMachine(ModuleMachine.Policy(restart: .never))
        _ = machine.busCame(at: 0)
        _ = machine.start(at: 0, reason: "test")
        _ = machine.spawned(7, at: 0)
        _ = machine.saw(.ready, pid: 7, reason: "", at: 10)
        _ = machine.exited(.signal(SIGKILL), lastLines: [], because: "it reached its memory limit", at: 20)
        #expect(
            machine.state == .settled(.failed("it reached its memory limit"))
                && machine.cause == "it reached its memory limit")
    }
}
