import Glibc
import StrataLauncher

/// What a piece of text is shown as on a terminal.
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

    /// What a module's state is shown in.
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

    /// For stdout: colours on a terminal that has them, unless `NO_COLOR`
    /// (no-color.org) says otherwise.
    static var standardOutput: Painter {
        let refused = Environment["NO_COLOR"] != nil || Environment["TERM"] == "dumb"
        return Painter(isColoured: StandardOutput.isTerminal && !refused)
    }

    func paint(_ text: String, _ colour: Colour) -> String {
        guard isColoured, colour != .plain, !text.isEmpty else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// Text about a module, in that one's colour: it is the same in each command.
    func paint(_ text: String, ofModule name: String) -> String {
        guard isColoured, !text.isEmpty else { return text }
        return "\u{1B}[\(ModuleColour.code(of: name))m\(text)\u{1B}[0m"
    }
}

/// This process's environment. A variable that is empty counts as unset.
enum Environment {
    static subscript(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return value.pointee == 0 ? nil : String(cString: value)
    }
}
