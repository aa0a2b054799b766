import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

extension SharedFolderTests {
    /// Modules and tools of other users than the app's own.
    @Suite(.timeLimit(.hang), .enabled(if: UserApp.obstacle == nil, "\(UserApp.obstacle ?? "")"))
    struct UserTests {
        private func run(
            _ name: String, _ rows: String, scripts: [String: String] = [:], environment: [String] = [],
            _ test: (UserApp) throws -> Void
        ) throws {
            let app = try UserApp(name, rows, scripts: scripts)
            defer { app.cleanUp() }
            try app.requireReachable()
            try app.running.start(environment: environment)
            try test(app)
            app.running.signal(SIGINT)
            #expect(try app.running.ended() == .code(0))
            #expect(!app.running.isThere(app.running.socket))
        }

        private func tool(_ app: UserApp) throws -> RawPeer {
            let peer = try RawPeer(path: app.running.socket, label: "tool")
            try peer.hello(role: "operator")
            return peer
        }

        @Test(.promise("M.7")) func rowsUserIsTheProcesssAndTheBusSeesIt() throws {
            let rows = """
                  Own: {run: [FIXTURE], provides: [Own]}
                  Guest: {user: nobody, run: [FIXTURE], provides: [Guest]}
                  Groups: {start: async, user: nobody, run: [groups.sh]}
                """
            let script = "echo user $(id -u), group $(id -g), groups $(id -G), $HOME, $USER; exec cat <&3"
            try run("rows", rows, scripts: ["groups.sh": script]) { app in
                let user = try #require(UserApp.module)
                let group = getgrnam(UserApp.group).pointee.gr_gid
                try app.awaitReady("Own", "Guest")
                try app.running.until {
                    app.running.said("Groups | user \(user.uid), group \(group), groups \(group), ")
                }
                #expect(app.running.said(", nobody"))
                let tool = try tool(app)
                let modules = try tool.asked("bus/modules")["modules"]?.array ?? []
                let uids = Dictionary(
                    uniqueKeysWithValues: modules.map { ($0["name"]?.string ?? "", $0["uid"]?.integer ?? -1) })
                #expect(uids["Own"] == 0)
                #expect(uids["Guest"] == Int64(user.uid))
                #expect(try tool.asked("Own/call", ["to": "Guest/echo", "body": 1]) == 1)
            }
        }

        @Test(.promise("1.4", "M.7")) func socketAndItsFolderAreTheGroups() throws {
            try run("socket", "  A: {run: [FIXTURE]}") { app in
                try app.awaitReady("A")
                let group = getgrnam(UserApp.group).pointee.gr_gid
                for (path, mode) in [(app.running.socket, 0o660), (SocketPath.folder(of: app.running.socket), 0o710)] {
                    var status = stat()
                    #expect(lstat(path, &status) == 0)
                    #expect(status.st_mode & 0o7777 == mode_t(mode), "\(path)")
                    #expect(status.st_gid == group && status.st_uid == 0, "\(path)")
                }
            }
        }

        @Test(.promise("5.29", "M.7")) func listedOperatorUsesItsToolsAndNobodyElseDoes() throws {
            try run("tools", "  A: {run: [FIXTURE], provides: [A]}") { app in
                try app.awaitReady("A")
                let called = try app.strata(as: UserApp.listed, "call", "A/echo", "7")
                #expect(called.end == .exit(0) && called.output == "7\n")
                let ps = try app.strata(as: UserApp.listed, "ps")
                #expect(ps.end == .exit(0) && ps.output.contains(#""name":"A""#))
                let restarted = try app.strata(as: UserApp.listed, "restart", "A")
                #expect(restarted.end == .exit(0))
                // In the group, but not listed.
                let stranger = try app.strata(as: UserApp.stranger, "ps")
                #expect(stranger.end == .exit(1))
                #expect(stranger.output.contains("forbidden") && stranger.output.contains("is not an operator"))
                // Not even in the group: the folder is closed.
                for user in [UserApp.stranger, UserApp.module] {
                    let outsider = try app.strata(as: user, inGroup: false, "ps")
                    #expect(outsider.end != .exit(0))
                    #expect(outsider.output.contains("ermission denied"), "\(outsider.output)")
                }
            }
        }

        /// A hostile process of the module's own user, in the socket's group.
        @Test(.promise("13.9")) func floodOfItsOwnUserKeepsNoVouchedModuleOut() throws {
            let row = "  Sand: {user: nobody, run: [FIXTURE], provides: [Sand], backoff: {first: 10ms, most: 10ms}}"
            try run("flood", row) { app in
                try app.awaitReady("Sand")
                let user = try #require(UserApp.module)
                let flood = try app.begin(
                    as: user, ["\(app.programs)/StrataConnector", "--flood", app.running.socket, "\(user.uid)", "70"])
                defer { flood.kill() }
                #expect(flood.firstLine() == "yes")
                for _ in 0..<5 {
                    let tool = try tool(app)
                    let before = try sand(tool)
                    kill(before.pid, SIGKILL)
                    try app.running.until {
                        (try? sand(tool)).map { $0.state == "ready" && $0.pid != before.pid } == true
                    }
                }
            }
        }

        /// Returns what the bus reports about the only module.
        private func sand(_ tool: RawPeer) throws -> (pid: Int32, state: String) {
            let row = try tool.asked("bus/modules")["modules"]?.array?.first
            return (Int32(row?["pid"]?.integer ?? 0), row?["state"]?.string ?? "")
        }

        @Test(.promise("5.29")) func operatorIsNoLauncherAndNobodyElsesModule() throws {
            try run("roles", "  A: {run: [FIXTURE]}\n  Hand: {start: manual, provides: [Hand]}") { app in
                try app.awaitReady("A")
                let launch = try app.strata(
                    as: UserApp.listed, "launch", app.running.manifest, "--socket", app.running.socket)
                #expect(launch.end == .exit(1))
                #expect(launch.output.contains("can't be the launcher"), "\(launch.output)")
                let hand = ["STRATA_MODULE": "Hand", "STRATA_SOCKET": app.running.socket]
                for user in [UserApp.listed, UserApp.stranger] {
                    let module = try app.run(
                        as: user, inGroup: true, ["\(app.programs)/StrataFixture"], environment: hand)
                    #expect(module.end != .exit(0))
                    #expect(module.output.contains("can't start Hand by hand"), "\(module.output)")
                }
                // The broker's own user can.
                let own = try ChildProgram("\(app.programs)/StrataFixture", environment: hand)
                let tool = try tool(app)
                #expect(try tool.asked("bus/ping") == .object([]))
                try app.running.until { (try? tool.asked("Hand/echo", 1)) == 1 }
                own.kill()
            }
        }

        @Test(.promise("10.11")) func listedOperatorGetsNoModulesPlace() throws {
            try run("places", "  A: {run: [FIXTURE], provides: [A]}") { app in
                try app.awaitReady("A")
                let tried = try app.strata(as: UserApp.listed, "run", "A")
                #expect(tried.end == .exit(1) && tried.output.contains("forbidden"), "\(tried.output)")
                // Nor for a process of root's from which it descends. Otherwise the holder of the
                // token would be the module.
                let asked = try app.strata(
                    as: UserApp.listed, "call", "launcher/lend", #"{"module": "A", "pid": 1}"#)
                #expect(asked.end == .exit(1))
                #expect(asked.output.contains("can't run a module by hand"), "\(asked.output)")
                #expect(!app.running.said("run by hand"))
            }
        }

        @Test(.promise("5.32")) func moduleIsNoOperatorWhoeverItsUserIs() throws {
            let rows = """
                  Own: {run: [tool.sh]}
                  Listed: {user: games, run: [tool.sh]}
                  Orphan: {user: games, run: [orphan.sh]}
                """
            // The parent of the second one has ended, so the launcher is its parent now.
            let scripts = [
                "tool.sh": "bin/strata ps; echo exit $?; exec cat <&3",
                "orphan.sh": "(setsid ./later.sh $PPID &)\nexec cat <&3",
                "later.sh": "until [ $(cut -d' ' -f4 /proc/$$/stat) = $1 ]; do :; done; bin/strata ps; echo exit $?",
            ]
            try run("descent", rows, scripts: scripts) { app in
                try app.running.until {
                    ["Own   ", "Listed", "Orphan"].allSatisfy { app.running.said("\($0) | exit 1") }
                }
                #expect(app.running.lines.count { $0.contains("was started by the app's launcher") } == 3)
            }
        }

        @Test(.promise("M.6")) func moduleOfItsOwnUserInheritsNothingAndOpensItsOutput() throws {
            let rows = """
                  Clean: {user: nobody, run: [words.sh], env: {TZ: UTC}}
                  Kept: {user: nobody, run: [words.sh], keepEnv: [LAUNCHERS_SECRET]}
                  Own: {run: [words.sh]}
                """
            let script = """
                echo secret ${LAUNCHERS_SECRET-none}, zone ${TZ-none}, home ${HOME-none} >/dev/stdout
                echo opened >/dev/stderr
                exec cat <&3
                """
            try run("inherited", rows, scripts: ["words.sh": script], environment: ["LAUNCHERS_SECRET=seen"]) { app in
                try app.running.until {
                    ["Clean ", "Kept  ", "Own   "].allSatisfy { app.running.said("\($0) | opened") }
                }
                #expect(app.running.said("Clean  | secret none, zone UTC, home /nonexistent"))
                #expect(app.running.said("Kept   | secret seen, zone none, home /nonexistent"))
                #expect(app.running.said("Own    | secret seen"))
            }
        }

        /// A module with a user of its own can't harm the other modules.
        @Test(.promise("5.32")) func hostileModuleReachesNobodyElse() throws {
            let rows = """
                  Victim: {run: [FIXTURE], provides: [Victim]}
                  Other: {user: games, run: [FIXTURE], provides: [Other]}
                  Hostile: {level: topout, start: async, user: nobody, run: [hostile.sh]}
                """
            let script = """
                try() { name=$1; shift; if "$@" 2>/dev/null; then echo did $name; else echo refused $name; fi; }
                try launchers-secrets cat /proc/$PPID/environ
                try launchers-end kill -9 $PPID
                try lifeline sh -c 'echo x >/proc/self/fd/3'
                try launchers-lifeline sh -c 'for fd in /proc/'$PPID'/fd/*; do [ -p $fd ] && exit 0; done; exit 1'
                others=$(pgrep -P $PPID | grep -vx $$)
                for other in $others; do
                    try others-secrets cat /proc/$other/environ
                    try others-end kill -9 $other
                    try others-memory dd if=/proc/$other/mem bs=1 count=1
                done
                try sockets-end rm $STRATA_SOCKET
                try sockets-mode chmod 666 $STRATA_SOCKET
                try other-socket sh -c 'echo >${STRATA_SOCKET%.sock}2.sock'
                try stopping bin/strata down
                echo tried $(echo $others | wc -w) others
                exec cat <&3
                """
            try run("hostile", rows, scripts: ["hostile.sh": script]) { app in
                try app.running.until { app.running.said("Hostile | tried") }
                #expect(app.running.said("tried 3 others"))
                let did = app.running.lines.filter { $0.hasPrefix("Hostile | did") }
                #expect(did == [])
                #expect(app.running.lines.count { $0.hasPrefix("Hostile | refused") } == 17)
                #expect(try tool(app).asked("Victim/call", ["to": "Other/echo", "body": 1]) == 1)
            }
        }

        /// A module of one row can't be another row's, even as the same user.
        @Test(.promise("5.22")) func processOfOneRowIsRefusedAsAnother() throws {
            let rows = """
                  Real: {user: nobody, run: [FIXTURE], provides: [Real]}
                  Thief: {level: middle, start: async, user: nobody, run: [thief.sh], restart: never}
                  Hand: {start: manual}
                """
            let script = """
                STRATA_MODULE=Real bin/StrataFixture; echo as Real $?
                STRATA_MODULE=Hand STRATA_TOKEN= bin/StrataFixture; echo as Hand $?
                exec cat <&3
                """
            try run("thief", rows, scripts: ["thief.sh": script]) { app in
                try app.running.until { app.running.said("| as Hand") }
                #expect(!app.running.said("as Real 0") && !app.running.said("as Hand 0"))
                #expect(try tool(app).asked("Real/facts")["setUps"] == 1)
            }
        }

        @Test(.promise("1.3")) func folderThatSomebodyElseMadeIsRefused() throws {
            let app = try UserApp("folder", "  A: {run: [FIXTURE]}")
            defer { app.cleanUp() }
            let folder = SocketPath.folder(of: app.running.socket)
            let stranger = try #require(UserApp.stranger)
            mkdir(folder, 0o710)
            chown(folder, stranger.uid, stranger.gid)
            try app.running.start()
            #expect(try app.running.ended() == .code(2))
            #expect(app.running.lines.last?.contains("belongs to user \(stranger.uid), not to 0") == true)
            rmdir(folder)
            symlink(app.programs, folder)
            try app.running.start()
            #expect(try app.running.ended() == .code(2))
            #expect(app.running.lines.last?.contains("is a link or not a folder") == true)
            unlink(folder)
            mkdir(folder, 0o755)
            chmod(folder, 0o755)
            try app.running.start("broker")
            #expect(try app.running.ended() == .code(2))
            #expect(app.running.lines.last?.contains("has mode 0755, wider than 0710") == true)
        }

        /// The kernel counts processes per user, and this user has only the app's.
        @Test(.promise("M.17"), .enabled(if: UserApp.User("news") != nil, "there is no user news"))
        func limitOnProcessesHoldsAModuleOfItsOwnUser() throws {
            let script = """
                ulimit -n
                n=0; while [ $n -lt 8 ]; do sleep 1000 & n=$((n + 1)); done
                """
            let rows = "  Fork: {user: news, run: [fork.sh], limits: {processes: 4, files: 55}, restart: never}"
            try run("fork", rows, scripts: ["fork.sh": script]) { app in
                try app.running.until { app.running.said("Fork     failed") }
                #expect(app.running.said("Fork   | 55"))
                #expect(app.running.lines.contains { $0.hasPrefix("Fork   |") && $0.lowercased().contains("fork") })
            }
        }
    }
}
