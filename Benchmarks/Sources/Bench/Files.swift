internal import Foundation

/// The few things done with files.
enum Files {
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    static func text(_ path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else { throw Failure("\(path) can't be read") }
        return String(decoding: data, as: UTF8.self)
    }

    /// Writes a value as JSON, and makes the folder where it isn't there.
    static func write(_ value: some Encodable, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try (try encoder.encode(value) + Data("\n".utf8)).write(to: url)
    }

    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    static func read<Value: Decodable>(_ type: Value.Type, from path: String) throws -> Value {
        guard let data = FileManager.default.contents(atPath: path) else { throw Failure("\(path) can't be read") }
        return try JSONDecoder().decode(type, from: data)
    }

    /// An executable of this name in PATH or the folders for administrators.
    static func program(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"])
            .map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
