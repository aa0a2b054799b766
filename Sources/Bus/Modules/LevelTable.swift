import StrataCore

/// The app's levels, foundation first, and the two rules that they make.
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

    /// A broadcast goes down the table: to later levels only.
    static func broadcastReaches(from sender: Int, to observer: Int) -> Bool { observer > sender }

    /// A report goes up the table: to its own level or an earlier one.
    static func reportMayGo(from sender: Int, to target: Int) -> Bool { target <= sender }

    /// Under `calls: layered`, a module calls its own level or an earlier one.
    static func callMayGo(from caller: Int, to owner: Int) -> Bool { owner <= caller }
}
