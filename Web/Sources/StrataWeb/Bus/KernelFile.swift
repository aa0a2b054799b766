import Foundation

/// A file in `/proc`, whose size isn't known before it is read.
enum KernelFile {
    /// Returns the text; nil if there is no such file.
    static func text(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
    }
}
