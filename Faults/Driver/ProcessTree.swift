internal import Foundation

/// What the system says of processes.
enum ProcessTree {
    static func isAlive(_ pid: Int32) -> Bool {
        guard let text = text("/proc/\(pid)/stat"),
            let state = text.split(separator: ")").last?.first(where: { $0 != " " })
        else { return false }
        return state != "Z" && state != "X"
    }

    static func name(_ pid: Int32) -> String { text("/proc/\(pid)/comm")?.trimmingCharacters(in: .newlines) ?? "" }

    static func children(of pid: Int32) -> [Int32] {
        (text("/proc/\(pid)/task/\(pid)/children") ?? "").split(separator: " ").compactMap { Int32($0) }
    }

    static func descendants(of pid: Int32) -> [Int32] {
        let children = children(of: pid)
        return children + children.flatMap(descendants)
    }

    /// Returns the names of a process's open files.
    static func openFiles(of pid: Int32) -> [String] {
        let folder = "/proc/\(pid)/fd"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    private static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
