import StrataCore

extension ManifestReader {
    /// Returns a scalar as it is written, whatever its type; nil and an error for an empty one.
    func text(_ field: Field?, _ what: String = "a string") -> String? {
        guard let field else { return nil }
        guard case .scalar(let text, _) = field.node.content, !field.node.isNull, !text.utf8.contains(0) else {
            expected(what, field)
            return nil
        }
        return text
    }

    /// Returns a string that satisfies the rule. A scalar that YAML reads as a number or a Boolean
    /// is an error.
    func text(_ field: Field?, _ what: String, where rule: (String) -> Bool) -> String? {
        guard let field, let text = text(field, what) else { return nil }
        guard rule(text) else {
            expected(what, field)
            return nil
        }
        guard field.node.scalar?.string != nil else {
            expected("\(what), in quotes if YAML takes it for a number or a boolean", field)
            return nil
        }
        return text
    }

    func choice<T: RawRepresentable>(_ field: Field?, _ words: [T]) -> T? where T.RawValue == String {
        let names = words.map(\.rawValue)
        return text(field, Self.oneOf(names)) { names.contains($0) }.flatMap(T.init(rawValue:))
    }

    func bool(_ field: Field?) -> Bool? {
        guard let field else { return nil }
        if let bool = field.node.scalar?.bool { return bool }
        expected("true or false", field)
        return nil
    }

    func integer<T: FixedWidthInteger>(_ field: Field?, _ range: ClosedRange<T>, _ what: String? = nil) -> T? {
        guard let field else { return nil }
        if case .integer(let integer)? = field.node.scalar, let fitting = T(exactly: integer), range.contains(fitting) {
            return fitting
        }
        expected(what ?? "an integer from \(range.lowerBound) to \(range.upperBound)", field)
        return nil
    }

    /// Returns a time in milliseconds.
    func time(_ field: Field?, atLeast least: UInt64 = 0) -> UInt64? {
        guard let field else { return nil }
        if case .scalar(let text, _) = field.node.content, let time = Quantities.time(text), time >= least {
            return time
        }
        expected("a time such as 500ms, 30s, 5m or 1h\(least > 0 ? ", not zero" : "")", field)
        return nil
    }

    /// Returns a time in milliseconds, in a range.
    /// - Parameter words: The range for people.
    func time(_ field: Field?, _ range: ClosedRange<UInt64>, _ words: String) -> UInt64? {
        guard let field else { return nil }
        if case .scalar(let text, _) = field.node.content, let time = Quantities.time(text), range.contains(time) {
            return time
        }
        expected("a time from \(words)", field)
        return nil
    }

    /// Returns a size in bytes.
    func size<T: FixedWidthInteger>(_ field: Field?, _ range: ClosedRange<T>) -> T? {
        guard let field else { return nil }
        guard case .scalar(let text, _) = field.node.content, let size = Quantities.size(text) else {
            expected("a size such as 4096, 16KiB, 8MiB or 1GiB", field)
            return nil
        }
        if let fitting = T(exactly: size), range.contains(fitting) { return fitting }
        expected("a size from \(range.lowerBound) to \(range.upperBound) bytes", field)
        return nil
    }
}

/// A value in the manifest, and the key that leads to it.
struct Field {
    var node: YAMLNode
    /// The path of keys, such as `modules.Storage.restart`; empty for the root.
    var path: String

    /// An entry of a mapping: a key and its value.
    struct Entry {
        var key: String
        var value: Field
        /// The position of the key itself, for errors about it.
        var keyLine: Int
        var keyColumn: Int
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}

/// Parses sizes and times as the manifest writes them.
enum Quantities {
    /// Returns bytes: an integer, optionally followed by B, KiB, MiB or GiB.
    static func size(_ text: String) -> UInt64? {
        quantity(text, ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30], most: 1 << 50)
    }

    /// Returns milliseconds: an integer followed by ms, s, m or h; a year at most.
    static func time(_ text: String) -> UInt64? {
        quantity(text, ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000], most: 366 * 24 * 3_600_000)
    }

    /// Returns a size in bytes as a manifest has it.
    static func text(size: Int) -> String {
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
        guard size > 1, let (unit, factor) = units.first(where: { size % $0.1 == 0 }) else {
            return size > 1 ? "\(size)B" : "\(size)"
        }
        return "\(size / factor)\(unit)"
    }

    /// Returns a time in milliseconds as a manifest has it.
    static func text(time: UInt64) -> String { time % 1_000 == 0 ? "\(time / 1_000)s" : "\(time)ms" }

    private static func quantity(_ text: String, _ units: [String: UInt64], most: UInt64) -> UInt64? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        var unit = text.utf8.dropFirst(digits.count)
        while unit.first == UInt8(ascii: " ") { unit = unit.dropFirst() }
        guard let number = UInt64(Substring(digits)), let factor = units[String(Substring(unit))] else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow || product > most ? nil : product
    }
}
