/// The colours of a picture.
public enum Theme: String, Sendable, CaseIterable {
    /// Light or dark, as the reader's settings say; light without a setting.
    case auto
    case light
    case dark
}

/// The colours by purpose, as CSS writes them.
struct Palette: Sendable {
    var background: String
    var bands: [String]
    var border: String
    var box: String
    var boxBorder: String
    var text: String
    var dim: String
    var call: String
    var open: String
    var broadcast: String
    var report: String
    var undeclared: String
    /// The colours for the phases of a start.
    var connect: String
    var setUp: String
    var initialize: String
    var waiting: String

    static let light = Palette(
        background: "#ffffff", bands: ["#f3f5f8", "#e9edf2"], border: "#d0d7de", box: "#ffffff", boxBorder: "#818b98",
        text: "#1f2328", dim: "#59636e", call: "#0969da", open: "#8250df", broadcast: "#1a7f37", report: "#bc4c00",
        undeclared: "#bf3989", connect: "#8c959f", setUp: "#0969da", initialize: "#8250df", waiting: "#d0d7de")

    static let dark = Palette(
        background: "#0d1117", bands: ["#161b22", "#1d232c"], border: "#3d444d", box: "#262c36", boxBorder: "#818b98",
        text: "#f0f6fc", dim: "#a2abb5", call: "#58a6ff", open: "#bc8cff", broadcast: "#3fb950", report: "#f0883e",
        undeclared: "#f778ba", connect: "#9198a1", setUp: "#58a6ff", initialize: "#bc8cff", waiting: "#3d444d")

    func colour(of kind: AppGraph.Kind) -> String {
        switch kind {
        case .call: call
        case .open: open
        case .broadcast: broadcast
        case .report: report
        }
    }
}

/// The approximate width of text, since a picture is made without the font that it is shown in. It
/// errs on the wide side.
enum TextWidth {
    static func of(_ text: String, size: Double, isBold: Bool = false) -> Double {
        let ems = text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
        return ems * size * (isBold ? 1.1 : 1)
    }

    /// Returns a width as a fraction of the font size, after DejaVu Sans, which is wide.
    private static func width(of scalar: Unicode.Scalar) -> Double {
        switch scalar {
        case "i", "j", "l", "'", "|", ".", ",", ":", ";", "!": 0.34
        case " ", "f", "t", "r", "I", "(", ")", "[", "]", "/", "-", "‹", "›": 0.42
        case "m", "w", "M", "W", "@", "%", "…", "–", "→": 0.95
        case "A"..."Z", "&", "+", "=", "<", ">", "×": 0.76
        case "a"..."z", "0"..."9": 0.64
        default: scalar.value < 0x1100 ? 0.7 : 1.1
        }
    }
}
