internal import FaultSystem
internal import Foundation

/// The run's folder, which is removed at the end, and the run's programs.
final class Places {
    let folder: String
    /// The folder with this program and the modules.
    let programs: String
    private(set) var hasDisk = false

    /// The size of the store's disk.
    static let diskBytes = 1 << 20

    init() throws {
        var template = Array("/tmp/strata-faults-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw RunFailure("there is no folder in /tmp: errno \(errno)") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let program = realpath("/proc/self/exe", nil) else { throw RunFailure("/proc/self/exe can't be read") }
        programs = URL(fileURLWithPath: String(cString: program)).deletingLastPathComponent().path
        free(program)
        for name in ["logs", "disk"] { mkdir("\(folder)/\(name)", 0o700) }
        hasDisk = fault_private_disk(disk, Self.diskBytes) == 0
    }

    /// Returns the path of a file in the folder.
    func file(_ name: String) -> String { "\(folder)/\(name)" }

    var logs: String { folder + "/logs" }
    var board: String { folder + "/board" }
    var disk: String { folder + "/disk" }

    func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Returns the last lines of a file.
    func lines(of path: String, _ most: Int) -> [String] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(most).map(String.init)
    }

    /// Removes the folder. Copies it to `kept` first, if that is given.
    func remove(keeping kept: String?) {
        if hasDisk { fault_end_private_disk(disk) }
        if let kept {
            try? FileManager.default.removeItem(atPath: kept)
            if rename(folder, kept) != 0 { try? FileManager.default.copyItem(atPath: folder, toPath: kept) }
        }
        try? FileManager.default.removeItem(atPath: folder)
    }
}
