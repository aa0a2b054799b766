/// The names of a Swift type.
struct TypeName {
    /// The name for people: `Shop.Catalog.Page<Shop.Item>`.
    let shown: String
    /// The module, the outer types and the type itself, each with its generic arguments.
    private let path: [Substring]

    init(_ type: any Any.Type) {
        shown = Self.withoutContexts(_typeName(type, qualified: true))
        path = Self.path(of: shown)
    }

    /// Whether it is the standard library's or Foundation's.
    var isOfSwift: Bool { path.count == 1 || path[0].hasPrefix("Foundation") }

    /// The name in Swift's symbol graphs, which have no generic arguments: `Shop.Catalog.Page`.
    var symbol: String { path.map { String($0.prefix { $0 != "<" }) }.joined(separator: ".") }

    /// The names for a contract's `$defs`, the shortest first: the type's own name with its generic
    /// arguments joined to it, then with the outer type's name in front, and so on to the module's.
    var definitions: [String] {
        var names: [String] = []
        for component in path.reversed() {
            let name = Self.identifier(component)
            names.append(names.last.map { "\(name).\($0)" } ?? name)
        }
        return names
    }

    /// Joins the words of a name by `_`, each without what qualifies it.
    private static func identifier(_ name: Substring) -> String {
        func isInWord(_ character: Character) -> Bool {
            character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == ".")
        }
        let words = name.split { !isInWord($0) }.compactMap { $0.split(separator: ".").last }
        let joined = words.joined(separator: "_")
        return joined.first?.isNumber == false ? joined : "_" + joined
    }

    /// Returns a name without the runtime's words for private contexts, `(unknown context at …).`,
    /// and for extensions, `(extension in Shop):`, and without the standard library's own name.
    private static func withoutContexts(_ name: String) -> String {
        var rest = name[...]
        var result = ""
        while let first = rest.first {
            if rest.hasPrefix("(unknown context at ") || rest.hasPrefix("(extension in ") {
                rest = rest.drop { $0 != ")" }.dropFirst(2)
            } else if rest.hasPrefix("Swift."), result.last?.isLetter != true {
                rest = rest.dropFirst(6)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    /// Splits a qualified name at the dots that aren't inside of brackets.
    private static func path(of name: String) -> [Substring] {
        var path: [Substring] = []
        var start = name.startIndex
        var depth = 0
        for index in name.indices {
            switch name[index] {
            case "<", "(": depth += 1
            case ")": depth -= 1
            case ">" where index == start || name[name.index(before: index)] != "-": depth -= 1
            case "." where depth == 0:
                path.append(name[start..<index])
                start = name.index(after: index)
            default: break
            }
        }
        return path + [name[start...]]
    }
}
