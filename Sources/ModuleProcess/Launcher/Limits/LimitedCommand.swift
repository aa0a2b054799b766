import StrataManifest

/// How a process of another user comes to its limits.
///
/// The launcher limits its own user's processes from outside. For another's the
/// kernel wants CAP_SYS_RESOURCE, which root lacks in most containers. So a
/// shell lowers its own limits, which everyone may, and becomes the program.
enum LimitedCommand {
    /// - Parameter command: a program's absolute path, and its arguments.
    static func words(_ command: [String], _ limits: ModuleProcess.Limits) -> [String] {
        var steps: [String] = []
        if let files = limits.files { steps.append("ulimit -n \(files)") }
        // Shells differ in the letter; POSIX has none.
        if let processes = limits.processes {
            steps.append("{ ulimit -u \(processes) 2>/dev/null || ulimit -p \(processes); }")
        }
        guard !steps.isEmpty else { return command }
        return ["/bin/sh", "-c", (steps + [#"exec "$0" "$@""#]).joined(separator: " && ")] + command
    }
}
