internal import StrataContracts

/// Describes what is wrong with a body in JSON terms: its sender knows nothing of Swift's types.
extension DecodingError {
    /// Whether the whole body had to be an object, and isn't one.
    var wantsObject: Bool {
        guard case .typeMismatch(let type, let context) = self else { return false }
        return type == [String: Any].self && context.codingPath.isEmpty
    }

    /// Returns the place of what is wrong, what was expected there, and what was found:
    /// `$.items[3].name: expected a string, found a number`.
    /// - Parameter member: A member that a missing object should have had; nil if none is known.
    func sentence(naming member: String? = nil) -> String {
        switch self {
        case .keyNotFound(let key, let context):
            return "\(Self.path(context.codingPath + [key])): expected a value, found nothing"
        case .valueNotFound(let type, let context):
            return "\(Self.path(context.codingPath)): expected \(Self.name(of: type)), found null"
        case .typeMismatch(let type, let context):
            guard let found = Self.found(context.debugDescription) else { fallthrough }
            let wanted = Self.name(of: type) + (member.map { " with `\($0)`" } ?? "")
            return "\(Self.path(context.codingPath)): expected \(wanted), found \(found)"
        case .dataCorrupted(let context):
            let reason = Self.misfit(context.debugDescription) ?? context.debugDescription
            return "\(Self.path(context.codingPath)): \(reason)"
        @unknown default: return "\(self)"
        }
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "an integer"
        case is any BinaryFloatingPoint.Type: "a number"
        default: "\(type)"
        }
    }

    /// Returns what the reader says that it found. The reader words it as Foundation does; nil if
    /// the type's own `init(from:)` says something else.
    private static func found(_ description: String) -> String? {
        guard description.hasPrefix("Expected to decode "), description.hasSuffix(" instead.") else { return nil }
        let kinds = [
            "bool": "true or false", "number": "a number", "a string": "a string", "an array": "an array",
            "a dictionary": "an object",
        ]
        return kinds.first { description.hasSuffix(" but found \($0.key) instead.") }?.value
    }

    /// Returns in other words what the reader, or a raw value's type, says of a value of the right
    /// kind; nil if it is something else.
    private static func misfit(_ description: String) -> String? {
        let fixed = [
            "Expected date string to be ISO8601-formatted.": "a date and time such as 2026-01-31T12:00:00Z",
            "Encountered Data is not valid Base64.": "a string in base64", "Invalid URL string.": "a URL",
        ]
        if let wanted = fixed[description] { return "expected \(wanted), found another string" }
        if let (number, type) = parts(description, "Parsed JSON number <", "> does not fit in ", ".") {
            return "expected \(range(of: type)), found \(number)"
        }
        if let (type, raw) = parts(description, "Cannot initialize ", " from invalid ", ""),
            let (_, value) = parts(String(raw), "", " value ", "")
        {
            return "expected a value of \(type), found \(value)"
        }
        return nil
    }

    /// Returns the two parts of a text that begins, goes on and ends as given.
    private static func parts(
        _ text: String, _ start: String, _ middle: String, _ end: String
    ) -> (Substring, Substring)? {
        guard text.hasPrefix(start), text.hasSuffix(end) else { return nil }
        let inner = text.dropFirst(start.count).dropLast(end.count)
        return inner.firstRange(of: middle).map { (inner[..<$0.lowerBound], inner[$0.upperBound...]) }
    }

    private static func range(of type: Substring) -> String {
        let types: [any FixedWidthInteger.Type] = [
            Int8.self, Int16.self, Int32.self, Int.self, Int64.self, UInt8.self, UInt16.self, UInt32.self, UInt.self,
            UInt64.self,
        ]
        return types.first { "\($0)" == type }.map { range(of: $0) } ?? "a number that fits in \(type)"
    }

    private static func range<Integer: FixedWidthInteger>(of type: Integer.Type) -> String {
        "an integer from \(Integer.min) to \(Integer.max)"
    }

    private static func path(_ keys: [any CodingKey]) -> ValuePath {
        keys.reduce(.root) { path, key in key.intValue.map(path.element) ?? path.member(key.stringValue) }
    }
}
