import Foundation
import StrataContracts

/// The documents of these tests, and what is made of them.
enum StubDocument {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    static func contract(_ name: String) throws -> Contract {
        try Contract(parsing: Array(Data(contentsOf: folder.appending(path: "Documents/\(name).json"))))
    }

    /// Returns a file beside the documents, or the source that was generated from one.
    static func text(_ path: String) throws -> String {
        let isSource = [".swift", ".py", ".ts"].contains { path.hasSuffix($0) }
        let folder = isSource ? "Generated" : "Documents"
        return try String(contentsOf: Self.folder.appending(path: "\(folder)/\(path)"), encoding: .utf8)
    }
}
