import Glibc
import StrataFuzzing
import Testing

/// The inputs that the repository keeps for a target: those that reach far, and those that once
/// were findings.
enum KeptInputs {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/Fuzzing"

    /// Returns paths from the fuzzer's folder, sorted.
    static func paths(of target: FuzzTarget) -> [String] {
        ["Corpus", "Findings"].flatMap { kind in
            names(in: "\(kind)/\(target.rawValue)").map { "\(kind)/\(target.rawValue)/\($0)" }
        }
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen("\(root)/\(path)", "r"), "there is no \(path)")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return bytes
    }

    private static func names(in path: String) -> [String] {
        guard let folder = opendir("\(root)/\(path)") else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
