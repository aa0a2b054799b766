import Glibc
import StrataLauncher

/// The colour or style of a text on a terminal.
enum Colour: String {
    case plain = ""
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case magenta = "35"
    case cyan = "36"

    /// Returns the colour of a module's state.
    static func ofState(_ state: String) -> Colour {
        switch state {
        case "ready": .green
        case "failed": .red
        case "absent": .dim
        default: .yellow
        }
    }
}

/// Whether and how text is coloured.
struct Painter {
    var isColoured: Bool

    /// The painter for stdout. It colours on a terminal that has colours, unless `NO_COLOR`
    /// (no-color.org) is set.
    static var standardOutput: Painter {
        let refused = Environment["NO_COLOR"] != nil || Environment["TERM"] == "dumb"
        return Painter(isColoured: StandardOutput.isTerminal && !refused)
    }

    func paint(_ text: String, _ colour: Colour) -> String {
        guard isColoured, colour != .plain, !text.isEmpty else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// Paints text about a module in the module's colour, which is the same in each command.
    func paint(_ text: String, ofModule name: String) -> String {
        guard isColoured, !text.isEmpty else { return text }
        return "\u{1B}[\(ModuleColour.code(of: name))m\(text)\u{1B}[0m"
    }
}

/// This process's environment. An empty variable counts as unset.
enum Environment {
    static subscript(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return value.pointee == 0 ? nil : String(cString: value)
    }
}
