/// Returns the known names that were probably meant by `name`, nearest first, for an error message.
///
/// The comparison ignores the case of ASCII letters. A letter that is added, left out, replaced, or
/// swapped with its neighbour counts as one edit. A name may be a third of its length away, and
/// three edits at most.
///
/// - Parameter known: only the first 1,024 names are considered, and only until
///   `NameComparison.mostCells` is reached. So a mistake costs the broker little, whatever names
///   exist.
/// - Returns: at most three names, each once; equally near ones in alphabetical order.
@inlinable
public func nearestNames(to name: String, in known: some Sequence<String>) -> [String] {
    var comparison = NameComparison(name)
    for candidate in known.prefix(1_024) {
        guard comparison.look(at: candidate) else { break }
    }
    return comparison.nearest
}

/// A comparison of names with a given one, at a bounded cost.
public struct NameComparison {
    /// The most cells filled in for all names together, which takes some 50 µs. A very different
    /// name takes some 25 cells, a very similar one of 64 bytes takes 450.
    public static let mostCells = 16_384
    /// No known name is as long, but a peer may send a name of any length.
    private static let longest = 256

    private let wanted: [UInt8]
    /// The most edits that a name may be away.
    private let farthest: Int
    /// Three rows of the table of distances: the last but one, the last, and the current one.
    private var rows: [Int]
    private let width: Int
    private var near: [(name: String, distance: Int)] = []
    /// The number of cells of that table that were filled in.
    public private(set) var cells = 0

    public init(_ name: String) {
        wanted = name.utf8.count <= Self.longest ? name.utf8.map(Self.lowercase) : []
        farthest = min(3, max(1, wanted.count / 3))
        width = wanted.count + farthest + 1
        rows = Array(repeating: 0, count: 3 * width)
    }

    /// The nearest of the compared names.
    public var nearest: [String] { near.map(\.name) }

    /// Compares a name.
    /// - Returns: false if no further names should be compared.
    public mutating func look(at candidate: String) -> Bool {
        guard !wanted.isEmpty, cells < Self.mostCells else { return false }
        guard abs(candidate.utf8.count - wanted.count) <= farthest, !candidate.isEmpty else { return true }
        var candidate = candidate
        guard let distance = candidate.withUTF8({ distance(to: $0) }), !near.contains(where: { $0.name == candidate })
        else { return true }
        near.append((candidate, distance))
        near.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
        if near.count > 3 { near.removeLast() }
        return true
    }

    /// Returns the optimal string alignment distance, in bytes; nil if it is over `farthest`. Only
    /// the cells around the diagonal can be within that.
    private mutating func distance(to other: UnsafeBufferPointer<UInt8>) -> Int? {
        let (wanted, farthest, width, far) = (wanted, farthest, width, farthest + 1)
        var filled = 0
        defer { cells += filled }
        return rows.withUnsafeMutableBufferPointer { rows in
            var (beforeLast, last, row) = (0, width, 2 * width)
            for place in 0...min(other.count, far) { rows[last + place] = place }
            var isNear = true
            for i in wanted.indices {
                let first = max(0, i - farthest)
                let end = min(other.count, i + farthest + 1)
                let wasNear = isNear
                isNear = false
                rows[row + first] = first == 0 ? i + 1 : far
                for j in first..<max(first, end) {
                    let byte = Self.lowercase(other[j])
                    // The cell to the right of the last row's cells is farther away than
                    // `farthest`.
                    let above = j == i + farthest ? far : rows[last + j + 1]
                    var best = min(rows[last + j] + (wanted[i] == byte ? 0 : 1), above + 1, rows[row + j] + 1)
                    if i > 0, j > 0, wanted[i] == Self.lowercase(other[j - 1]), wanted[i - 1] == byte {
                        best = min(best, rows[beforeLast + j - 1] + 1)
                    }
                    rows[row + j + 1] = best
                    isNear = isNear || best <= farthest
                }
                filled += end - first
                // A swap reaches back two rows.
                guard isNear || wasNear else { return nil }
                (beforeLast, last, row) = (last, row, beforeLast)
            }
            let distance = rows[last + other.count]
            return distance <= farthest ? distance : nil
        }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
}
