/// What is wrong with a body, in words of JSON: who sent it knows nothing of Swift's types.
extension DecodingError {
    /// Whether the whole body had to be an object, and isn't one.
    var wantsObject: Bool {
        guard case .typeMismatch(let type, let context) = self else { return false }
        return type == [String: Any].self && context.codingPath.isEmpty
    }

    /// What is wrong, with the member that it is wrong about.
    /// - Parameter member: one that the object which is wanted has; nil where none is known.
    func sentence(naming member: String? = nil) -> String {
        switch self {
        case .keyNotFound(let key, let context):
            return "\(Self.path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context):
            return "\(Self.path(context.codingPath)) is null, and must not be"
        case .typeMismatch(let type, let context):
            let wanted = Self.name(of: type) + (member.map { " with `\($0)`" } ?? "")
            let found = Self.found(context.debugDescription).map { ", and is \($0)" } ?? ": \(context.debugDescription)"
            return "\(Self.path(context.codingPath)) must be \(wanted)\(found)"
        case .dataCorrupted(let context):
            return "\(Self.path(context.codingPath)) can't be read: \(context.debugDescription)"
        @unknown default: return "\(self)"
        }
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        default: "\(type)"
        }
    }

    /// What the reader says that it found, which it says as Foundation does; nil where
    /// the type's own `init(from:)` says something else.
    private static func found(_ description: String) -> String? {
        guard description.hasPrefix("Expected to decode "), description.hasSuffix(" instead.") else { return nil }
        let kinds = [
            "bool": "true or false", "number": "a number", "a string": "a string", "an array": "an array",
            "a dictionary": "an object",
        ]
        return kinds.first { description.hasSuffix(" but found \($0.key) instead.") }?.value
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "the body" }
        var path = ""
        for key in keys {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return "`\(path)`"
    }
}
