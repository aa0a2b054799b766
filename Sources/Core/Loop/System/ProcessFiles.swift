internal import StrataCore
internal import Glibc

/// Facts about processes, read from `/proc`.
public enum ProcessFiles {
    /// The children of this process, including adopted ones and those that have ended but were not
    /// waited for.
    public static func children() -> [Int32] {
        var pids: [Int32] = []
        var sawFile = false
        for thread in numbers(in: "/proc/self/task") {
            guard let text = text(of: "/proc/self/task/\(thread)/children") else { continue }
            sawFile = true
            pids += text.split(separator: " ").compactMap { Int32($0) }
        }
        return sawFile ? pids : childrenByParent()
    }

    /// The path of the program that this process runs; nil if `/proc` isn't available.
    public static func executable() -> String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        return count > 0 ? String(decoding: path[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// The resident memory of a process in bytes: anonymous and shared pages, but no file pages.
    /// Nil if the process is gone.
    public static func memory(of pid: Int32) -> UInt64? {
        guard let text = text(of: "/proc/\(pid)/status") else { return nil }
        var sum: UInt64?
        for line in text.split(separator: "\n") where line.hasPrefix("RssAnon:") || line.hasPrefix("RssShmem:") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.count >= 2, let kibibytes = UInt64(words[1]) { sum = (sum ?? 0) + kibibytes << 10 }
        }
        return sum
    }

    /// The effective user of a process; nil if the process is gone. The owner of its folder in
    /// `/proc` may be root instead.
    public static func user(of pid: Int32) -> UInt32? {
        guard let text = text(of: "/proc/\(pid)/status") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("Uid:") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            return words.count > 2 ? UInt32(words[2]) : nil
        }
        return nil
    }

    /// Waits for a child that has ended, without blocking.
    /// - Returns: false if it still runs, or isn't a child of this process.
    @discardableResult
    public static func reap(_ pid: Int32) -> Bool {
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) == pid
    }

    /// Kills unknown children, and reaps the ones that have ended. If this process is a subreaper,
    /// it adopts their children, which the next call handles.
    /// - Parameter isKnown: whether a child belongs to the caller, which then keeps it.
    /// - Returns: the children that are left, including known ones.
    public static func killChildren(except isKnown: (Int32) -> Bool) -> [Int32] {
        for pid in children() where !isKnown(pid) && !reap(pid) { kill(pid, SIGKILL) }
        return children()
    }

    /// Finds the children by reading the parent of each process; for a kernel without `children`
    /// files.
    private static func childrenByParent() -> [Int32] {
        let own = getpid()
        return numbers(in: "/proc").filter { pid in
            // The name is in parentheses and may contain anything. The state and the parent follow
            // the last closing one.
            guard let stat = text(of: "/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else { return false }
            let words = stat[stat.index(after: end)...].split(separator: " ")
            return words.count > 1 && Int32(words[1]) == own
        }
    }

    private static func numbers(in folder: String) -> [Int32] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var numbers: [Int32] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name) { numbers.append(number) }
        }
        return numbers
    }

    static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 1 << 20 {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            // The process has ended.
            if count < 0, errno == ESRCH, bytes.isEmpty { return nil }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
