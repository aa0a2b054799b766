/// The segments of a URL's or a pattern's path, not decoded yet.
///
/// The path is empty or starts with a slash. Both `""` and `/` have none. One
/// trailing slash is dropped after a segment that isn't empty: `/a/` is `/a`,
/// while `//` is two empty segments, and `/a//` is `a` and two of them.
struct PathSegments: Sequence, IteratorProtocol {
    private let path: Slice<UnsafeRawBufferPointer>
    /// Where the next segment starts; behind the end when there is none.
    private var start: Int

    init(_ path: Slice<UnsafeRawBufferPointer>) {
        var path = path
        let slash = UInt8(ascii: "/")
        if path.last == slash, path.count == 1 || path.dropLast().last != slash {
            path = path.dropLast()
        }
        self.path = path
        start = path.isEmpty ? path.endIndex + 1 : path.startIndex + 1
    }

    mutating func next() -> Slice<UnsafeRawBufferPointer>? {
        guard start <= path.endIndex else { return nil }
        let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        defer { start = end + 1 }
        return path[start..<end]
    }
}
