internal import StrataCore
internal import CUV

/// The memory that this process may still take, and the limit behind that number.
public struct MemoryRoom: Equatable, Sendable {
    public var bytes: UInt64
    /// The name of the tightest limit, as a person would look it up.
    public var limit: String

    public init(bytes: UInt64, limit: String) {
        self.bytes = bytes
        self.limit = limit
    }

    /// Returns the smallest amount that the machine, this process's control groups and its own
    /// limits leave for mapped files in memory. Reads a few files in `/proc` and in the control
    /// groups.
    public static func now() -> MemoryRoom {
        var least = MemoryRoom(bytes: .max, limit: "")
        func consider(_ bytes: UInt64, _ limit: String) {
            if bytes < least.bytes { least = MemoryRoom(bytes: bytes, limit: limit) }
        }
        if let text = ProcessFiles.text(of: "/proc/meminfo"), let free = number("MemAvailable:", in: text) {
            consider(free << 10, "the machine's available memory")
        }
        for group in groups {
            guard let most = ProcessFiles.text(of: "\(group)/memory.max").flatMap(number),
                let used = ProcessFiles.text(of: "\(group)/memory.current").flatMap(number)
            else { continue }
            // The kernel drops cached file pages before it kills a process, so they count as free.
            let text = ProcessFiles.text(of: "\(group)/memory.stat") ?? ""
            let cached = (number("active_file", in: text) ?? 0) + (number("inactive_file", in: text) ?? 0)
            consider(most - min(most, used - min(used, cached)), "memory.max of \(group)")
        }
        consider(strata_file_size_limit(), "ulimit -f")
        let space = strata_address_limit()
        if space != .max, let text = ProcessFiles.text(of: "/proc/self/status"), let used = number("VmSize:", in: text)
        {
            consider(space - min(space, used << 10), "ulimit -v")
        }
        return least
    }

    /// The folders of this process's control group and of its ancestors.
    private static var groups: [String] {
        guard let text = ProcessFiles.text(of: "/proc/self/cgroup"),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return [] }
        var (folders, folder) = ([String](), "/sys/fs/cgroup")
        for name in line.dropFirst(4).split(separator: "/") {
            folder += "/\(name)"
            folders.append(folder)
        }
        return folders
    }

    private static func number(_ text: String) -> UInt64? { UInt64(text.prefix { $0.isNumber }) }

    /// Returns the number after a word that begins a line.
    private static func number(_ word: String, in text: String) -> UInt64? {
        for line in text.split(separator: "\n") where line.hasPrefix(word) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.count >= 2, words[0] == word { return UInt64(words[1]) }
        }
        return nil
    }
}
