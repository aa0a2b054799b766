/// A position in a picture; x grows to the right and y downwards.
public struct Point: Sendable, Hashable {
    public var x: Double
    public var y: Double

    public init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}

/// A rectangle whose sides are horizontal and vertical.
public struct Rectangle: Sendable, Equatable {
    public var x: Double
    public var y: Double
    public var width: Double
    public var height: Double

    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public var right: Double { x + width }
    public var bottom: Double { y + height }

    /// Whether the two share more than a border.
    public func overlaps(_ other: Rectangle) -> Bool {
        x < other.right && other.x < right && y < other.bottom && other.y < bottom
    }

    /// Whether a point is inside, and not on the border.
    public func surrounds(_ point: Point) -> Bool {
        x < point.x && point.x < right && y < point.y && point.y < bottom
    }
}

/// A cubic Bézier curve, which stays within the hull of its four points.
public struct Curve: Sendable, Hashable {
    public var start: Point
    public var control1: Point
    public var control2: Point
    public var end: Point

    /// A straight line.
    static func line(from start: Point, to end: Point) -> Curve {
        Curve(start: start, control1: start, control2: end, end: end)
    }

    /// Returns a curve that leaves and arrives vertically, and stays between the heights of its
    /// ends.
    static func swing(from start: Point, to end: Point) -> Curve {
        let middle = (start.y + end.y) / 2
        return Curve(start: start, control1: Point(start.x, middle), control2: Point(end.x, middle), end: end)
    }

    /// Returns a curve that leaves and arrives vertically on one side of its ends, which have the
    /// same height.
    /// - Parameter depth: the distance of the control points; the curve reaches 3/4 of it.
    static func arc(from start: Point, to end: Point, depth: Double) -> Curve {
        Curve(
            start: start, control1: Point(start.x, start.y + depth), control2: Point(end.x, end.y + depth), end: end)
    }

    var isStraight: Bool { control1 == start && control2 == end }

    /// Returns the point at a fraction of the way, from 0 to 1.
    public func point(at share: Double) -> Point {
        let rest = 1 - share
        let weights = (rest * rest * rest, 3 * rest * rest * share, 3 * rest * share * share, share * share * share)
        func mix(_ a: Double, _ b: Double, _ c: Double, _ d: Double) -> Double {
            a * weights.0 + b * weights.1 + c * weights.2 + d * weights.3
        }
        return Point(
            mix(start.x, control1.x, control2.x, end.x), mix(start.y, control1.y, control2.y, end.y))
    }
}
