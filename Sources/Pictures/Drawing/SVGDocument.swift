import StrataCore

/// An SVG picture that is written element by element. Text is escaped, and numbers have one
/// decimal.
///
/// Colours are classes, so one picture suits a light and a dark background. Programs without
/// `prefers-color-scheme` show it in light colours on its own background.
struct SVGDocument {
    private let theme: Theme
    private let width: Double
    private let height: Double
    private let title: String
    private let rules: (Palette) -> [(String, String)]
    private var body = ""

    /// - Parameter rules: returns the selectors and their declarations for a palette.
    init(
        width: Double, height: Double, title: String, theme: Theme, rules: @escaping (Palette) -> [(String, String)]
    ) {
        self.width = width
        self.height = height
        self.title = title
        self.theme = theme
        self.rules = rules
        rectangle(Rectangle(x: 0, y: 0, width: width, height: height), "ground", radius: 10)
    }

    /// The whole picture, as the contents of a file.
    var text: String {
        let (w, h) = (Self.number(width), Self.number(height))
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(w)" height="\(h)" viewBox="0 0 \(w) \(h)" role="img">
            <title>\(Self.escape(title))</title>
            <style>
            text { font-family: system-ui, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; }
            \(style)</style>
            \(body)</svg>

            """
    }

    private var style: String {
        func sheet(_ palette: Palette) -> String {
            let common = [(".ground", "fill: \(palette.background)")]
            return (common + rules(palette)).map { "\($0) { \($1) }\n" }.joined()
        }
        switch theme {
        case .light: return sheet(.light)
        case .dark: return sheet(.dark)
        case .auto: return sheet(.light) + "@media (prefers-color-scheme: dark) {\n\(sheet(.dark))}\n"
        }
    }

    // MARK: elements

    mutating func rectangle(_ frame: Rectangle, _ classes: String, radius: Double = 0, tip: String? = nil) {
        let round = radius > 0 ? " rx=\"\(Self.number(radius))\"" : ""
        element(
            "rect",
            "class=\"\(classes)\" x=\"\(Self.number(frame.x))\" y=\"\(Self.number(frame.y))\" "
                + "width=\"\(Self.number(frame.width))\" height=\"\(Self.number(frame.height))\"\(round)", tip)
    }

    mutating func path(_ data: String, _ classes: String, tip: String? = nil) {
        element("path", "class=\"\(classes)\" d=\"\(data)\"", tip)
    }

    /// - Parameter anchor: SVG's anchor: `start`, `middle` or `end`.
    mutating func text(
        _ text: String, at point: Point, size: Double, _ classes: String, isBold: Bool = false, anchor: String = "start"
    ) {
        let weight = isBold ? " font-weight=\"600\"" : ""
        let place = anchor == "start" ? "" : " text-anchor=\"\(anchor)\""
        body +=
            "<text class=\"\(classes)\" x=\"\(Self.number(point.x))\" y=\"\(Self.number(point.y))\" "
            + "font-size=\"\(Self.number(size))\"\(weight)\(place)>\(Self.escape(text))</text>\n"
    }

    mutating func begin(_ classes: String, tip: String? = nil) {
        body += "<g class=\"\(classes)\">\n"
        if let tip { body += "<title>\(Self.escape(tip))</title>\n" }
    }

    mutating func end() { body += "</g>\n" }

    private mutating func element(_ name: String, _ attributes: String, _ tip: String?) {
        if let tip {
            body += "<\(name) \(attributes)><title>\(Self.escape(tip))</title></\(name)>\n"
        } else {
            body += "<\(name) \(attributes)/>\n"
        }
    }

    // MARK: text

    /// Returns text in XML's form. Characters that XML doesn't allow, or that reverse text, are
    /// replaced.
    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case _ where scalar.steersTerminal || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns a number with one decimal if it needs it: `12.3`, but `12` for `12.0`.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, rest) = (abs(tenths) / 10, abs(tenths) % 10)
        return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)"
    }
}

/// The arrowheads of lines; each kind has its own shape besides its colour.
enum Arrow {
    static let length = 8.0
    private static let half = 4.5

    /// Returns the path of a line's arrowhead.
    static func path(_ line: GraphLayout.Line) -> String {
        let last = line.curves[line.curves.count - 1]
        let isDown = last.control2.y == last.end.y ? last.start.y < last.end.y : last.control2.y < last.end.y
        return path(line.kind, tip: last.end, isDown: isDown)
    }

    /// Returns the path of an arrowhead with its tip at a point.
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

    /// Returns the classes of an arrowhead. A broadcast's is drawn in strokes, the other kinds are
    /// filled.
    static func classes(_ colour: String, _ kind: AppGraph.Kind) -> String {
        kind == .broadcast ? "line \(colour)" : "fill-\(colour)"
    }
}
