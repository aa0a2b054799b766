/// The text in a module's box: its name, how it starts if not with the app, and the names of what
/// goes in or out.
public struct Card: Sendable, Equatable {
    /// A line below the name.
    public struct Line: Sendable, Equatable {
        /// The kind of what it names; nil for a note on the module itself.
        public var kind: AppGraph.Kind?
        public var text: String
        /// Whether it was seen but not declared.
        public var isUndeclared = false
        /// Whether it reaches no module.
        public var isUnheard = false
    }

    /// The most lines; if there are more, the last one counts the rest.
    static let mostLines = 5
    /// The most characters of a line.
    static let longest = 30

    static let nameSize = 14.0
    static let lineSize = 11.0
    static let lineHeight = 15.0
    static let padding = 12.0
    /// The width of the mark in front of a line's text.
    static let mark = 14.0

    public var name: String
    public var lines: [Line] = []

    init(_ module: AppGraph.Module, _ bundles: [Bundle]) {
        name = Self.cut(module.name, to: Self.longest)
        if let word = Self.start(of: module) { lines.append(Line(kind: nil, text: word)) }
        if !module.urls.isEmpty { lines.append(Line(kind: .open, text: Self.list(module.urls))) }
        for bundle in bundles {
            if bundle.kind == .open, bundle.names.allSatisfy(module.urls.contains) { continue }
            // A module called only by its own name needs no line for that.
            if bundle.kind == .call, bundle.names == [module.name] { continue }
            lines.append(
                Line(kind: bundle.kind, text: Self.list(bundle.names), isUndeclared: !bundle.isDeclared))
        }
        if !module.unheard.isEmpty {
            lines.append(Line(kind: .broadcast, text: "\(Self.list(module.unheard)) (unheard)", isUnheard: true))
        }
        if lines.count > Self.mostLines {
            let rest = lines.count - Self.mostLines + 1
            lines = lines.prefix(Self.mostLines - 1) + [Line(kind: nil, text: "and \(rest) more")]
        }
    }

    var width: Double {
        let texts = lines.map { TextWidth.of($0.text, size: Self.lineSize) + ($0.kind == nil ? 0 : Self.mark) }
        let name = TextWidth.of(name, size: Self.nameSize, isBold: true)
        return texts.reduce(name, max) + 2 * Self.padding
    }

    var height: Double { 36 + Double(lines.count) * Self.lineHeight + (lines.isEmpty ? 0 : 3) }

    private static func start(of module: AppGraph.Module) -> String? {
        guard module.isListed else { return "guest" }
        switch module.start {
        case .eager: return nil
        case .async: return "async"
        case .onDemand: return "on demand"
        case .manual: return "by hand"
        }
    }

    /// Returns as many of the names as fit.
    static func list(_ names: [String]) -> String {
        let whole = names.joined(separator: ", ")
        guard whole.count > longest else { return whole }
        var shown: [String] = []
        for name in names {
            let rest = " and \(names.count - shown.count - 1) more"
            guard (shown + [name]).joined(separator: ", ").count + rest.count <= longest else { break }
            shown.append(name)
        }
        guard !shown.isEmpty else {
            let rest = names.count > 1 ? " and \(names.count - 1) more" : ""
            return cut(names[0], to: longest - rest.count) + rest
        }
        return shown.joined(separator: ", ") + " and \(names.count - shown.count) more"
    }

    static func cut(_ text: String, to count: Int) -> String {
        text.count > count ? text.prefix(count - 1) + "…" : text
    }
}
