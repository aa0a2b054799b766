import StrataCore

/// The bytes of an edge's key before its names.
private let keyHead = 5

/// How a monitor's `most` frames a second are shared among edges, so that a busy edge doesn't hide
/// a rare one.
///
/// An edge is a sender, a receiver, a kind and a name. In each second it is shown `share` frames at
/// most, an eighth of `most`. Another eighth is the `reserve`: it is used only for errors, and for
/// an edge's first frame in the second. So an edge that hasn't been shown in a second is left out
/// only if errors and other edges' first frames have used the reserve up. An error is left out only
/// if `most` frames have been shown.
///
/// This type knows no clock: times are milliseconds that it is given. What it leaves out it counts
/// for each edge, until the caller takes the count.
final class FrameShares {
    /// The most edges that are told apart. All others count as one.
    static let mostEdges = 256
    /// The most bytes of each name that edges are told apart by.
    static let longestName = 256
    /// How long a second is, in milliseconds.
    static let period: UInt64 = 1_000

    /// One edge, and what it was shown.
    final class Edge {
        /// Nil for all edges that aren't told apart.
        let kind: Header.Kind?
        /// The kind, the lengths of two names, and the three names.
        fileprivate let key: [UInt8]
        private let (fromCount, toCount): (Int, Int)
        /// The second in which it was last shown.
        fileprivate var second: UInt64 = 0
        /// How often it was shown in that second.
        fileprivate var shown = 0
        /// The frames that were left out, and aren't counted anywhere else yet.
        fileprivate(set) var left: UInt64 = 0

        fileprivate init(_ kind: Header.Kind?, _ key: [UInt8], _ fromCount: Int, _ toCount: Int) {
            (self.kind, self.key, self.fromCount, self.toCount) = (kind, key, fromCount, toCount)
        }

        /// What monitors are told of it.
        var described: [JSON.Member] {
            let texts = key.dropFirst(keyHead)
            func text(_ bytes: ArraySlice<UInt8>) -> JSON { .string(String(decoding: bytes, as: UTF8.self)) }
            return [
                .init("from", text(texts.prefix(fromCount))),
                .init("to", text(texts.dropFirst(fromCount).prefix(toCount))),
                .init("kind", .string(kind.map { "\($0.name)" } ?? "others")),
                .init("name", text(texts.dropFirst(fromCount + toCount))),
            ]
        }
    }

    let most: Int
    private var share: Int { max(1, most / 8) }
    private var reserve: Int { most / 8 }
    /// The number of the current second, and when it ends.
    private var second: UInt64 = 1
    private var end: UInt64 = 0
    /// The frames that were shown in this second.
    private var shown = 0
    private var edges = ByteTable<Edge>()
    /// The same edges, in the order in which they were first seen.
    private var inOrder: [Edge] = []
    private let others = Edge(nil, [], 0, 0)
    /// The edge of the last frame that was judged.
    private var current: Edge
    /// Where the key of a frame's edge is made.
    private let key = UnsafeMutableRawPointer.allocate(byteCount: keyHead + 3 * FrameShares.longestName, alignment: 8)
    private var lastForgot: UInt64 = 0
    /// The frames that were left out, and aren't counted anywhere else yet.
    private(set) var left: UInt64 = 0

    init(most: Int) {
        self.most = most
        current = others
    }

    deinit { key.deallocate() }

    var hasLeft: Bool { left > 0 }

    /// Judges a frame, and counts it if it is left out.
    /// - Returns: whether it is shown.
    func shows(_ frame: borrowing MonitoredFrame, now: UInt64) -> Bool {
        if now >= end {
            end = now + Self.period
            second += 1
            shown = 0
        }
        current = edge(of: frame)
        if current.second != second { current.shown = 0 }
        let isBefore = frame.code != nil || current.shown == 0
        guard isBefore ? shown < most : current.shown < share && shown < most - reserve else {
            current.left += 1
            left += 1
            return false
        }
        current.second = second
        current.shown += 1
        shown += 1
        return true
    }

    /// Takes the count of what was left out before the frame that was judged last.
    func takeLeft() -> UInt64 { take(from: current) }

    /// Takes the counts of up to `most` edges.
    func takeLeft(most: Int) -> [(edge: Edge, count: UInt64)] {
        var taken: [(Edge, UInt64)] = []
        for edge in inOrder + [others] where taken.count < most && edge.left > 0 {
            taken.append((edge, take(from: edge)))
        }
        return taken
    }

    /// Gives a count back that nobody could be told.
    func giveBack(_ count: UInt64, to edge: Edge) {
        edge.left += count
        left += count
    }

    private func take(from edge: Edge) -> UInt64 {
        defer { edge.left = 0 }
        left -= edge.left
        return edge.left
    }

    // MARK: Edges

    private func edge(of frame: borrowing MonitoredFrame) -> Edge {
        let (from, to, name) = (Self.cut(frame.from), Self.cut(frame.target), Self.cut(frame.edgeName))
        key.storeBytes(of: frame.kind.rawValue, as: UInt8.self)
        key.storeBytes(of: UInt16(truncatingIfNeeded: from.count), toByteOffset: 1, as: UInt16.self)
        key.storeBytes(of: UInt16(truncatingIfNeeded: to.count), toByteOffset: 3, as: UInt16.self)
        var end = key + keyHead
        Self.append(from, at: &end)
        Self.append(to, at: &end)
        Self.append(name, at: &end)
        let bytes = UnsafeRawBufferPointer(start: key, count: end - key)
        if let known = edges.find(bytes) { return known }
        if edges.count == Self.mostEdges { forgetQuiet() }
        guard edges.count < Self.mostEdges else { return others }
        let edge = Edge(frame.kind, Array(bytes), from.count, to.count)
        edges.set(bytes, edge)
        inOrder.append(edge)
        return edge
    }

    /// Forgets the edges that have nothing to tell and weren't shown in this second, once a second.
    private func forgetQuiet() {
        guard lastForgot != second else { return }
        lastForgot = second
        inOrder.removeAll { edge in
            guard edge.left == 0, edge.second != second else { return false }
            edge.key.withUnsafeBytes { edges.remove($0) }
            return true
        }
    }

    private static func append(_ text: Header.Text, at end: inout UnsafeMutableRawPointer) {
        if let base = text.baseAddress { end.copyMemory(from: base, byteCount: text.count) }
        end += text.count
    }

    private static func cut(_ text: Header.Text) -> Header.Text { Header.Text(rebasing: text.prefix(longestName)) }
}
