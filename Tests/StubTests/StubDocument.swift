import Foundation
import StrataContracts

/// The documents of these tests, and what is made of them.
enum StubDocument {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// A stream whose call and final reply have descriptors, which no client carries.
    static var streamWithDescriptors: Contract.Action {
        var action = Contract.Action("x")
        action.result = .elements(nil)
        action.descriptors = DescriptorCounts(params: 2, reply: 2)
        return action
    }

    /// What a stub says of the descriptors of that stream, and one in TypeScript of those of `Archive/swap`.
    static let lackOfDescriptors =
        "Its descriptors (at most 2 with a call and 2 with the reply) can't be used here, so a call whose reply has some "
        + "fails."

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
