import StrataCore

/// Reads the members of a JSON object that a peer sent, each with the type it must have. A missing
/// member is nil, and a member of another type is `bad-params`.
struct MemberReader {
    private let json: JSON
    private let owner: String

    /// - Parameter owner: how messages name the object.
    init(_ json: JSON, of owner: String) {
        self.json = json
        self.owner = owner
    }

    /// Reads a whole body.
    init(body: UnsafeRawBufferPointer, of owner: String) throws(BusError) {
        self.init(try BodyLimit.ordinary.read(body, of: owner), of: owner)
    }

    func string(_ name: String) throws(BusError) -> String? {
        try read(name, "a string") { $0.string }
    }

    func integer(_ name: String) throws(BusError) -> Int64? {
        try read(name, "an integer") { if case .integer(let value) = $0 { value } else { nil } }
    }

    func bool(_ name: String) throws(BusError) -> Bool? {
        try read(name, "true or false") { $0.bool }
    }

    func array(_ name: String) throws(BusError) -> [JSON]? {
        try read(name, "an array") { $0.array }
    }

    func object(_ name: String) throws(BusError) -> [JSON.Member]? {
        try read(name, "an object") { $0.object }
    }

    func strings(_ name: String) throws(BusError) -> [String] {
        try read(name, "an array of strings") { json in
            guard let array = json.array else { return nil }
            let strings = array.compactMap(\.string)
            return strings.count == array.count ? strings : nil
        } ?? []
    }

    /// Reads a string that must be present.
    func required(_ name: String) throws(BusError) -> String {
        guard let value = try string(name) else {
            throw BusError(.badParams, "\(owner) lacks \"\(name)\", a string")
        }
        return value
    }

    private func read<Value>(_ name: String, _ type: String, _ convert: (JSON) -> Value?) throws(BusError) -> Value? {
        try require(json.object != nil, .badParams, "\(owner) must be an object, and this is \(json.typeName)")
        guard let member = json[name] else { return nil }
        guard let value = convert(member) else {
            throw BusError(.badParams, "\"\(name)\" of \(owner) must be \(type), and this is \(member.typeName)")
        }
        return value
    }
}

extension JSON {
    /// How messages name the value's type.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
