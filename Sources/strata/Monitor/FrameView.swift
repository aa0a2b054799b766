import StrataCore
import StrataOperator

/// The look of frames to a person: columns that line up within the terminal's width.
struct FrameView {
    /// A terminal this wide has room for microseconds.
    private static let wide = 100
    private static let sizeWidth = 8
    private static let tookWidth = 7

    private let painter: Painter
    private let digits: Int
    private let kindWidth = 9
    private let nameWidth: Int
    private let targetWidth: Int

    /// - Parameters:
    ///   - modules: the modules whose names line up. A very long name sticks out.
    ///   - width: the terminal's columns.
    init(_ modules: [String], width: Int, _ painter: Painter) {
        self.painter = painter
        digits = width < Self.wide ? 3 : 6
        nameWidth = min(width < Self.wide ? 10 : 20, modules.reduce("operator".count) { max($0, $1.count) })
        // The 9 stands for the time's other characters, the 3 for the arrow, and 4 * 2 for the
        // gaps between columns.
        let rest = 9 + digits + kindWidth + nameWidth + 3 + Self.sizeWidth + Self.tookWidth + 4 * 2
        targetWidth = min(60, max(16, width - rest))
    }

    /// Returns the line for frames that a monitor missed.
    func missed(_ count: Int64) -> String { painter.paint("\(count) frames were missed here", .yellow) }

    /// Returns the line for frames like the next one that were left out.
    func left(_ count: Int64) -> String { painter.paint("\(count) frames like the next one were left out", .dim) }

    /// Returns the line for what was left out of an edge.
    func left(_ edge: JSON) -> String {
        func text(_ member: String) -> String { Printable.line(edge[member]?.string ?? "") }
        let count = edge["count"]?.integer ?? 0
        return painter.paint(
            "\(count) frames were left out: \(text("kind"))  \(text("from")) → \(text("to"))  \(text("name"))", .dim)
    }

    func line(_ frame: SeenFrame) -> String {
        let time = ClockTime.text(frame.at, digits: digits)
        var line = Line(painter)
        line.add(time, .dim)
        line.column(time.count + 2)
        line.add(Printable.line(frame.kind), Self.colour(frame))
        line.column(time.count + 2 + kindWidth + 2)
        line.add(ofPeer: frame.from)
        line.column(time.count + 2 + kindWidth + 2 + nameWidth + 1, gap: 1)
        line.add("→ ")
        addTarget(frame, &line)
        // Both end at a fixed column. A long target first uses up their room, and then moves
        // them.
        let sizeEnd = time.count + 2 + kindWidth + 2 + nameWidth + 3 + targetWidth + 2 + Self.sizeWidth
        if let bytes = frame.bytes {
            let size = Self.size(bytes)
            line.column(sizeEnd - size.count)
            line.add(size, .dim)
        }
        if let took = frame.took.map(LoadView.time) {
            line.column(sizeEnd + 2 + Self.tookWidth - took.count)
            line.add(took, .bold)
        }
        return line.text
    }

    private func addTarget(_ frame: SeenFrame, _ line: inout Line) {
        switch frame.kind {
        case "reply", "error", "notice", "report": line.add(ofPeer: frame.to)
        case "broadcast": line.add("*")
        default:
            line.add(Printable.line(frame.to))
            // An interface often has its module's name.
            if let callee = frame.json["callee"]?.string, !frame.to.hasPrefix("\(callee)/"), callee != "bus" {
                line.add(" in ", .dim)
                line.add(ofPeer: callee)
            }
        }
        var more: [(text: String, colour: Colour)] = [(frame.name, .cyan), (frame.code, .red)]
        if frame.kind != "call" { more.insert((frame.action, .dim), at: 0) }
        if frame.descriptors > 0 {
            more.append(("+\(frame.descriptors) descriptor\(frame.descriptors == 1 ? "" : "s")", .dim))
        }
        for piece in more where !piece.text.isEmpty {
            line.add("  ")
            line.add(Printable.line(piece.text), piece.colour)
        }
    }

    /// Text whose width is known, whatever its colours.
    private struct Line {
        private(set) var text = ""
        private var width = 0
        private let painter: Painter

        init(_ painter: Painter) { self.painter = painter }

        mutating func add(_ piece: String, _ colour: Colour = .plain) {
            text += painter.paint(piece, colour)
            width += piece.count
        }

        /// Adds a name: a module's in its own colour, any other in bold.
        mutating func add(ofPeer name: String) {
            let shown = Printable.line(name)
            let isModule = !["operator", "launcher", "bus"].contains(name)
            text += isModule ? painter.paint(shown, ofModule: name) : painter.paint(shown, .bold)
            width += shown.count
        }

        /// Moves to a column; if the text is already too long, adds only the gap.
        mutating func column(_ column: Int, gap: Int = 2) {
            let spaces = max(gap, column - width)
            text += String(repeating: " ", count: spaces)
            width += spaces
        }
    }

    /// Returns a size, exact if there is room for it.
    private static func size(_ bytes: Int64) -> String {
        bytes < 1_000_000 ? "\(bytes) B" : LoadView.size(UInt64(clamping: bytes))
    }

    private static func colour(_ frame: SeenFrame) -> Colour {
        guard frame.code.isEmpty else { return .red }
        return switch frame.kind {
        case "call", "open": .blue
        case "reply": .green
        case "error": .red
        case "broadcast": .magenta
        case "report": .yellow
        case "notice": .cyan
        default: .bold
        }
    }
}
