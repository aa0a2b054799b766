import Foundation
import StrataTesting
import TestSupport

extension StrataTesting.TemporaryFolder {
    /// Writes a file, and makes the folders above it.
    func write(_ name: String, _ text: String = "", mode: mode_t = 0o644) throws {
        let file = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try WrittenProgram.write(text, to: file, mode: mode)
    }
}
