internal import Glibc
internal import Testing

/// The files of this package, found from where this one was built.
public enum Repository {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    /// Returns the path of a file or folder, given from the repository's own folder.
    public static func path(_ path: String) -> String { "\(root)/\(path)" }

    public static func text(_ path: String) throws -> String {
        let file = try #require(fopen(Self.path(path), "r"), "there is no \(path)")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    public static func lines(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the names in a folder, except those that begin with a dot.
    public static func entries(_ path: String) throws -> [String] {
        let folder = try #require(opendir(Self.path(path)), "there is no folder \(path)")
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the Swift files in a folder and in its subfolders.
    public static func sources(_ path: String) throws -> [String] {
        try entries(path).flatMap { name -> [String] in
            let inner = "\(path)/\(name)"
            if name.hasSuffix(".swift") { return [inner] }
            return name.contains(".") ? [] : try sources(inner)
        }
    }
}
