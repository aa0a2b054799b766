public import StrataCore

/// The doc comments of Swift modules, from the symbol graphs that the compiler writes with
/// `-emit-symbol-graph`.
public struct SymbolGraph {
    /// What is said of a declaration.
    struct Symbol {
        /// The doc comment; nil if it has none.
        var doc: String?
        var isDeprecated: Bool
    }

    /// The declarations by their names: `Shop.Catalog.Search.text`.
    private var symbols: [String: Symbol] = [:]
    /// The types with an `init(from:)` that is written by hand.
    private var writtenTypes: Set<String> = []
    /// The types that say their schemas themselves.
    private var describingTypes: Set<String> = []

    public init() {}

    /// Adds one file of a module: `Shop.symbols.json`, or `Shop@Other.symbols.json`.
    /// - Throws: `SymbolGraphError` if it isn't one.
    public mutating func add(_ json: JSON) throws(SymbolGraphError) {
        guard let module = json["module"]?["name"]?.string, let list = json["symbols"]?.array else {
            throw SymbolGraphError(
                description: "a symbol graph has `module` and `symbols`, and this JSON hasn't: give the compiler's file"
            )
        }
        var types: [String: String] = [:]
        for symbol in list {
            guard let path = symbol["pathComponents"]?.array?.compactMap(\.string), let own = path.last,
                // What the compiler made has no place in a file.
                symbol["location"] != nil
            else { continue }
            let outer = path.dropLast()
            // A case with values is `circle(_:)`.
            let isCase = symbol["kind"]?["identifier"]?.string == "swift.enum.case"
            let name = isCase ? String(own.prefix { $0 != "(" }) : own
            let value = Symbol(doc: Self.doc(symbol, of: module), isDeprecated: Self.isDeprecated(symbol))
            for names in Self.names(module, outer) {
                symbols[names.appending(name)] = value
                if own == "init(from:)" { writtenTypes.insert(names.text) }
            }
            if let id = symbol["identifier"]?["precise"]?.string { types[id] = path.joined(separator: ".") }
        }
        for relationship in json["relationships"]?.array ?? [] {
            guard relationship["kind"]?.string == "conformsTo",
                relationship["target"]?.string?.hasSuffix("ContractDescribingP") == true,
                let type = relationship["source"]?.string.flatMap({ types[$0] })
            else { continue }
            describingTypes.formUnion([type, "\(module).\(type)"])
        }
    }

    subscript(_ name: String) -> Symbol? { symbols[name] }

    /// Whether a type has an `init(from:)` that is written by hand, and says no schema itself.
    func isWritten(_ type: String) -> Bool { writtenTypes.contains(type) && !describingTypes.contains(type) }

    /// The names of an outer type, to which a name is added.
    private struct Names {
        let text: String
        func appending(_ name: String) -> String { text.isEmpty ? name : "\(text).\(name)" }
    }

    /// Returns the names with the module's, and without: a type of another module that is extended
    /// stands under its own name.
    private static func names(_ module: String, _ outer: ArraySlice<String>) -> [Names] {
        let path = outer.joined(separator: ".")
        return [Names(text: path.isEmpty ? module : "\(module).\(path)"), Names(text: path)]
    }

    private static func doc(_ symbol: JSON, of module: String) -> String? {
        guard let comment = symbol["docComment"],
            // The compiler gives a member without a comment the one of the protocol's requirement.
            comment["module"].map({ $0.string == module }) ?? true
        else { return nil }
        let lines = (comment["lines"]?.array ?? []).map { $0["text"]?.string ?? "" }
        let text = lines.map { String($0.reversed().drop { $0.isWhitespace }.reversed()) }
            .drop { $0.isEmpty }.reversed().drop { $0.isEmpty }.reversed().joined(separator: "\n")
        return text.isEmpty ? nil : text
    }

    private static func isDeprecated(_ symbol: JSON) -> Bool {
        (symbol["availability"]?.array ?? []).contains { $0["isUnconditionallyDeprecated"]?.bool == true }
    }
}

/// The reason why JSON isn't a symbol graph.
public struct SymbolGraphError: Error, Sendable, CustomStringConvertible {
    public let description: String
}
