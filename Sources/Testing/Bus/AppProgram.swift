internal import StrataCore

/// The app of a manifest, run by `strata test` until the bus ends.
final class AppProgram {
    let child: ChildProgram
    /// The path of the app's socket.
    let socket: String

    init(_ manifest: String, play rows: [String], _ arguments: [String], _ executable: String?) throws {
        let played = rows.flatMap { ["--play", $0] }
        // The command says where its bus is, and then waits to be ended with the app.
        let command = ["--", "/bin/sh", "-c", "echo \"the bus is at $STRATA_SOCKET\"; exec sleep infinity"]
        child = try ChildProgram(
            try executable ?? BuiltExecutable.path("strata"), ["test", manifest] + played + arguments + command,
            label: "strata test \(manifest)")
        guard let socket = child.output.waitForLine(after: "the bus is at ", Deadline()) else {
            throw TestFailure("the app of \(manifest) doesn't start: \(child.outputText)")
        }
        self.socket = socket
    }
}
