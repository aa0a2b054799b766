import Glibc
import StrataManifest

/// One folder of the cgroup v2 file system, and what is done with its files.
struct ControlGroup: Equatable {
    let path: String

    /// Makes it, or takes one that is there.
    /// - Returns: nil where the kernel refuses.
    static func make(_ path: String) -> ControlGroup? {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { return nil }
        return ControlGroup(path: path)
    }

    /// Moves a process here; what it starts from then on is here too.
    func add(_ pid: Int32) -> Bool { write("\(pid)", to: "cgroup.procs") }

    /// Processes that are here.
    var processes: [Int32] { read("cgroup.procs").split(separator: "\n").compactMap { Int32($0) } }

    /// Beyond so many bytes the kernel takes back what it can, and then kills: all
    /// of the group, since a module without some of its processes is of no use.
    func limitMemory(_ most: UInt64?) -> Bool {
        _ = write("1", to: "memory.oom.group")
        return write(most.map(String.init) ?? "max", to: "memory.max")
    }

    /// How many processes were killed here for want of memory.
    var memoryKills: Int {
        for line in read("memory.events").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == "oom_kill" { return Int(words[1]) ?? 0 }
        }
        return 0
    }

    /// Kills all that is here, also what has left its session (Linux 5.14).
    func kill() { _ = write("1", to: "cgroup.kill") }

    /// - Returns: false while something is here that has not ended.
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

    /// A file of the kernel's, up to 256 KiB; empty where it can't be read.
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
