/// How wide text is, near enough: a picture is made without the font that it will
/// be shown in. Rather too wide than too narrow.
enum TextWidth {
    static func of(_ text: String, size: Double, isBold: Bool = false) -> Double {
        let ems = text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
        return ems * size * (isBold ? 1.1 : 1)
    }

    /// In parts of the font's size; after DejaVu Sans, which is wide.
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
