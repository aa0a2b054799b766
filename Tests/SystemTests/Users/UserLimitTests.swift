import Glibc
import StrataCore
import StrataTesting
import Testing

extension SharedFolderTests {
    /// Limits of processes of another user than the launcher's, and of a launcher that isn't
    /// root.
    @Suite(.timeLimit(.hang), .enabled(if: UserApp.obstacle == nil, "\(UserApp.obstacle ?? "")"))
    struct UserLimitTests {
        @Test(.promise("M.17", "M.35")) func limitsHoldForAnotherUsersProcessAndItGainsNothing() throws {
            let rows = """
                  Big: {user: nobody, start: async, run: [big.sh], limits: {memory: 20MiB}, restart: never}
                  Files: {user: nobody, start: async, run: [files.sh], limits: {files: 20}, stop: 100ms}
                  Other: {user: nobody, start: async, run: [stays.sh], stop: 100ms}
                  Own: {start: async, run: [stays.sh], stop: 100ms}
                """
            let scripts = [
                "big.sh": "x=$(head -c 40000000 /dev/zero | tr '\\0' x); while read y <&3; do :; done",
                "files.sh": """
                /bin/bash -c 'exec 19<$0 && echo opened 19; (exec 20<$0) 2>/dev/null || echo refused 20' $0
                exec cat <&3
                """,
                "stays.sh": "echo process $$; exec cat <&3",
            ]
            let app = try UserApp("limits", rows, scripts: scripts)
            defer { app.cleanUp() }
            try app.requireReachable()
            let running = app.running
            try running.start()
            try running.until {
                running.said("Big      failed") && running.said("Files  | refused 20")
                    && running.said("Other  | process") && running.said("Own    | process")
            }
            #expect(running.said("Files  | opened 19"))
            #expect(running.said("of memory, over its limit of 20 MiB, and was ended"))
            for module in ["Other", "Own"] {
                let line = try #require(running.lines.first { $0.hasPrefix("\(module) ") && $0.contains("| process ") })
                let pid = try #require(line.split(separator: " ").last.flatMap { Int32($0) })
                let status = UpProcess.text(of: "/proc/\(pid)/status")
                #expect(status.contains("NoNewPrivs:\t1"), "\(module)")
                let user = try #require(module == "Own" ? 0 : UserApp.module?.uid)
                #expect(status.contains("Uid:\t\(user)\t\(user)\t\(user)\t\(user)"), "\(module): \(status)")
            }
            running.signal(SIGINT)
            #expect(try running.ended() == .code(0))
        }

        /// The kernel exempts only root from it, so the launcher runs as another user.
        @Test(.promise("M.17"), .enabled(if: UserApp.User("uucp") != nil, "there is no user uucp"))
        func limitOnProcessesHoldsTheLaunchersOwnUser() throws {
            let user = try #require(UserApp.User("uucp"))
            let app = try UserApp("processes", "")
            defer { app.cleanUp() }
            try app.requireReachable()
            let folder = app.running.folder
            chown(folder, user.uid, user.gid)
            // The limit comes a moment after the start; its parent is the launcher.
            let script = """
                #!/bin/sh
                trap 'kill -INT $PPID' EXIT
                until [ "$limit" = 40 ]; do
                    while read -r one two soft rest; do
                        [ "$one $two" = "Max processes" ] && limit=$soft
                    done </proc/self/limits
                done
                n=0; while [ $n -lt 60 ]; do sleep 1000 & n=$((n + 1)); echo started $n; done
                """
            try app.running.write("fork.sh", script, mode: 0o755)
            try app.running.write(
                "own.yaml",
                "{app: own, modules: {Fork: {start: async, run: [fork.sh], limits: {processes: 40}, restart: never}}}",
                mode: 0o644)
            let (end, output) = try app.run(
                as: user, inGroup: false,
                ["\(app.programs)/strata", "up", "\(folder)/own.yaml", "--socket", "\(folder)/own.sock"])
            #expect(end == .exit(0), "\(output)")
            #expect(output.contains("| started 1\n") && !output.contains("| started 40"), "\(output)")
            #expect(output.lowercased().contains("fork:") || output.lowercased().contains("cannot fork"), "\(output)")
        }
    }
}
