/// Patterns of notification names, by segments: a `.` separates the segments of a name.
///
/// The segment `*` takes any one segment, and a last segment `>` takes one or more. Everywhere else both
/// are ordinary characters. The signs are those of NATS's subjects.
public enum NamePattern {
    /// The most segments of a pattern. Whoever looks for a name's patterns goes two ways at each segment, so
    /// this bounds the work.
    public static let mostSegments = 8

    /// Whether some segment stands for others, so that this is more than a name.
    public static func isPattern(_ text: UnsafeRawBufferPointer) -> Bool {
        var segments = Segments(text)
        while let segment = segments.next() {
            if isAny(segment) || isRest(segment) && segments.isAtEnd { return true }
        }
        return false
    }

    /// Whether a pattern matches a name.
    public static func matches(_ pattern: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) -> Bool {
        var (pattern, name) = (Segments(pattern), Segments(name))
        while let wanted = pattern.next() {
            guard let segment = name.next() else { return false }
            if isRest(wanted) && pattern.isAtEnd { return true }
            guard isAny(wanted) || wanted.elementsEqual(segment) else { return false }
        }
        return name.isAtEnd
    }

    /// Says why this can't be observed as a pattern; nil if it can.
    public static func problem(_ pattern: UnsafeRawBufferPointer) -> String? {
        guard isPattern(pattern) else {
            return "the pattern \"\(pattern.text)\" has neither a segment * nor a last segment >: observe it as a name"
        }
        let count = pattern.count { $0 == Segments.mark } + 1
        return count <= mostSegments
            ? nil : "the pattern \"\(pattern.text)\" has \(count) segments: give at most \(mostSegments)"
    }

    /// Whether a segment of a pattern takes any one segment.
    public static func isAny(_ segment: UnsafeRawBufferPointer) -> Bool {
        segment.count == 1 && segment[0] == UInt8(ascii: "*")
    }

    /// Whether a last segment of a pattern takes all further ones.
    public static func isRest(_ segment: UnsafeRawBufferPointer) -> Bool {
        segment.count == 1 && segment[0] == UInt8(ascii: ">")
    }

    /// The segments of a name or a pattern, one after another.
    public struct Segments {
        @inlinable static var mark: UInt8 { UInt8(ascii: ".") }
        private let text: UnsafeRawBufferPointer
        private var start = 0

        public init(_ text: UnsafeRawBufferPointer) { self.text = text }

        /// Returns the length of a name's first segment. It is asked for each broadcast.
        @inlinable @inline(__always)
        public static func first(of name: UnsafeRawBufferPointer) -> Int {
            guard let start = name.baseAddress else { return 0 }
            var count = 0
            while count < name.count, start.load(fromByteOffset: count, as: UInt8.self) != mark { count &+= 1 }
            return count
        }

        /// Whether all segments were taken.
        public var isAtEnd: Bool { start > text.count }

        /// Takes the next segment, which may be empty; nil if none is left.
        public mutating func next() -> UnsafeRawBufferPointer? {
            guard !isAtEnd else { return nil }
            var end = start
            while end < text.count, text[end] != Self.mark { end += 1 }
            defer { start = end + 1 }
            return UnsafeRawBufferPointer(rebasing: text[start..<end])
        }
    }
}

extension NamePattern {
    /// Like `isPattern`, for a string's UTF-8.
    public static func isPattern(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isPattern(UnsafeRawBufferPointer($0)) }
    }

    /// Like `problem`, for a string's UTF-8.
    public static func problem(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { problem(UnsafeRawBufferPointer($0)) }
    }

    /// Like `matches`, for strings' UTF-8.
    public static func matches(_ pattern: String, _ name: String) -> Bool {
        var (pattern, name) = (pattern, name)
        return pattern.withUTF8 { pattern in
            name.withUTF8 { matches(UnsafeRawBufferPointer(pattern), UnsafeRawBufferPointer($0)) }
        }
    }
}
