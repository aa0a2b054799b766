import Glibc
import StrataManifest

/// A folder of the cgroup v2 file system, and the operations on its files.
struct ControlGroup: Equatable {
    let path: String

    /// Creates the group, or takes an existing one.
    /// - Returns: Nil if the kernel refuses.
    static func make(_ path: String) -> ControlGroup? {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { return nil }
        return ControlGroup(path: path)
    }

    /// Moves a process into the group, together with the processes that it starts later.
    func add(_ pid: Int32) -> Bool { write("\(pid)", to: "cgroup.procs") }

    /// The processes in the group.
    var processes: [Int32] { read("cgroup.procs").split(separator: "\n").compactMap { Int32($0) } }

    /// Limits the group's memory in bytes. Beyond the limit the kernel reclaims what it can, and
    /// then kills the whole group: a module without some of its processes is of no use.
    func limitMemory(_ most: UInt64?) -> Bool {
        _ = write("1", to: "memory.oom.group")
        return write(most.map(String.init) ?? "max", to: "memory.max")
    }

    /// The number of processes that were killed in the group for lack of memory.
    var memoryKills: Int {
        for line in read("memory.events").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == "oom_kill" { return Int(words[1]) ?? 0 }
        }
        return 0
    }

    /// Kills all processes in the group, including those that left their session (Linux 5.14).
    func kill() { _ = write("1", to: "cgroup.kill") }

    /// Removes the group.
    /// - Returns: False while a process in it has not ended.
    func remove() -> Bool { rmdir(path) == 0 || errno == ENOENT }

    func holds(_ word: String, in file: String) -> Bool {
        read(file).split(whereSeparator: { $0 == " " || $0 == "\n" }).contains { $0 == word }
    }

    func mayWrite(_ file: String) -> Bool { access("\(path)/\(file)", W_OK) == 0 }

    func write(_ text: String, to file: String) -> Bool {
        let descriptor = open("\(path)/\(file)", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }

    private func read(_ file: String) -> String { Self.text(of: "\(path)/\(file)") }

    /// Returns the content of a kernel file, up to 256 KiB; empty if it can't be read.
    static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < 256 << 10 {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Sets the limits of a process of another user.
///
/// The launcher limits its own user's processes from outside. For another user's process the kernel
/// requires CAP_SYS_RESOURCE, which root lacks in most containers. So a shell lowers its own
/// limits, which is always allowed, and then executes the program.
enum LimitedCommand {
    /// Returns the command that sets the limits and runs the given command.
    /// - Parameter command: The absolute path of a program, and its arguments.
    static func words(_ command: [String], _ limits: ModuleProcess.Limits) -> [String] {
        var steps: [String] = []
        if let files = limits.files { steps.append("ulimit -n \(files)") }
        // Shells use different letters for this limit; POSIX defines none.
        if let processes = limits.processes {
            steps.append("{ ulimit -u \(processes) 2>/dev/null || ulimit -p \(processes); }")
        }
        guard !steps.isEmpty else { return command }
        return ["/bin/sh", "-c", (steps + [#"exec "$0" "$@""#]).joined(separator: " && ")] + command
    }
}
