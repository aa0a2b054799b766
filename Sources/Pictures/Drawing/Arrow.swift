/// How a kind of line ends: each has a form of its own beside its colour.
enum Arrow {
    static let length = 8.0
    private static let half = 4.5

    /// The form of an arrow whose tip is at a point.
    /// - Parameter isDown: whether it points down.
    static func path(_ kind: AppGraph.Kind, tip: Point, isDown: Bool) -> String {
        let back = tip.y + (isDown ? -length : length)
        let left = "\(SVGDocument.number(tip.x - half)) \(SVGDocument.number(back))"
        let right = "\(SVGDocument.number(tip.x + half)) \(SVGDocument.number(back))"
        let point = "\(SVGDocument.number(tip.x)) \(SVGDocument.number(tip.y))"
        switch kind {
        case .call: return "M\(left)L\(point)L\(right)Z"
        case .open:
            let radius = length / 2
            let middle = tip.y + (isDown ? -radius : radius)
            let (r, y) = (SVGDocument.number(radius), SVGDocument.number(middle))
            return "M\(SVGDocument.number(tip.x - radius)) \(y)a\(r) \(r) 0 1 0 \(SVGDocument.number(length)) 0"
                + "a\(r) \(r) 0 1 0 \(SVGDocument.number(-length)) 0Z"
        case .broadcast: return "M\(left)L\(point)L\(right)"
        case .report:
            let middle = "\(SVGDocument.number(tip.x)) \(SVGDocument.number((tip.y + back) / 2 + (back - tip.y)))"
            return "M\(left)L\(point)L\(right)L\(middle)Z"
        }
    }

    /// A broadcast's is two strokes, the others are filled.
    static func classes(_ colour: String, _ kind: AppGraph.Kind) -> String {
        kind == .broadcast ? "line \(colour)" : "fill-\(colour)"
    }
}
