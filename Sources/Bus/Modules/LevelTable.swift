import StrataCore

/// The app's levels, foundation first. The rules that they make are `LevelRule`.
struct LevelTable {
    let names: [String]
    /// The names' bytes, for headers.
    let nameBytes: [[UInt8]]

    init(_ names: [String]) {
        self.names = names
        nameBytes = names.map { Array($0.utf8) }
    }

    func rank(_ name: UnsafeRawBufferPointer) -> Int? {
        nameBytes.firstIndex { $0.count == name.count && $0.elementsEqual(name) }
    }

    func rank(_ name: String) -> Int? { names.firstIndex(of: name) }
}
