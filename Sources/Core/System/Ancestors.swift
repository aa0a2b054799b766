internal import Glibc

/// Whose child a process is, from the kernel's process table.
public enum Ancestors {
    /// A chain is followed so far; a longer one counts as descending.
    private static let mostGenerations = 256

    /// Whether `pid` is a descendant of `ancestor` (and not that process itself).
    public static func descends(_ pid: Int32, from ancestor: Int32) -> Bool {
        guard pid != ancestor else { return false }
        var current = pid
        for _ in 0..<mostGenerations {
            guard let parent = parent(of: current) else {
                // Where it lives and can't be looked at, it may descend.
                return kill(current, 0) == 0 || errno == EPERM
            }
            guard parent > 0 else { return false }
            if parent == ancestor { return true }
            current = parent
        }
        return true
    }

    /// Whether there is such a process that has not ended.
    public static func isAlive(_ pid: Int32) -> Bool {
        guard pid > 0 else { return false }
        guard kill(pid, 0) == 0 || errno == EPERM else { return false }
        return state(of: pid)?.state != UInt8(ascii: "Z")
    }

    private static func parent(of pid: Int32) -> Int32? { state(of: pid)?.parent }

    /// The third and fourth field of `/proc/PID/stat`; the second, the name in
    /// parentheses, may hold anything.
    private static func state(of pid: Int32) -> (state: UInt8, parent: Int32)? {
        let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { space in
            let count = read(descriptor, space.baseAddress, space.count)
            guard count > 0 else { return nil }
            let text = space[..<count]
            guard let nameEnd = text.lastIndex(of: UInt8(ascii: ")")), nameEnd + 4 < count else { return nil }
            var parent: Int32 = 0
            var index = nameEnd + 4
            while index < count, let digit = Optional(text[index] &- 0x30), digit < 10 {
                parent = parent &* 10 &+ Int32(digit)
                index += 1
            }
            return (text[nameEnd + 2], parent)
        }
    }
}
