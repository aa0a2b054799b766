internal import StrataCore

/// Reads a URL's parameters, which are all texts, as the members of an action.
@ModuleActor
enum URLParameters {
    /// The most members that may need a conversion from text.
    private static let most = 64

    /// Decodes the parameters as they are. Each member that needs another type is converted if its
    /// text is JSON of that type.
    static func decode<Value: Decodable>(_ type: Value.Type, _ body: UnsafeRawBufferPointer) throws(ModuleError)
        -> Value
    {
        var bytes = Array(body)
        for _ in 0..<most {
            do {
                return try Coding.decode(type, bytes)
            } catch DecodingError.typeMismatch(let wanted, let context) {
                guard let changed = reread(bytes, context.codingPath) else {
                    throw .badParams(DecodingError.typeMismatch(wanted, context).sentence())
                }
                bytes = changed
            } catch let error as DecodingError {
                throw .badParams(error.sentence())
            } catch {
                throw .badParams("\(error)")
            }
        }
        throw .badParams("the URL has more than \(most) parameters that are not strings")
    }

    /// Returns the body with one member's text read as a number or a Boolean; nil if it is neither.
    private static func reread(_ bytes: [UInt8], _ path: [any CodingKey]) -> [UInt8]? {
        guard case .object(var members)? = try? Coding.json(bytes), let key = path.first,
            let index = members.firstIndex(where: { $0.name == key.stringValue })
        else { return nil }
        switch members[index].value {
        case .string(let text):
            guard let value = scalar(text) else { return nil }
            members[index].value = value
        case .array(var elements):
            guard path.count > 1, let place = path[1].intValue, elements.indices.contains(place),
                let text = elements[place].string, let value = scalar(text)
            else { return nil }
            elements[place] = value
            members[index].value = .array(elements)
        default: return nil
        }
        return JSON.object(members).encoded()
    }

    private static func scalar(_ text: String) -> JSON? {
        switch try? JSON(parsing: text) {
        case let value? where value.bool != nil: value
        case .integer(let value)?: .integer(value)
        case .number(let value)?: .number(value)
        default: nil
        }
    }
}
