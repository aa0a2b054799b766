public import StrataCore

extension Contract {
    /// Reads a document's bytes.
    /// - Throws: if they aren't JSON, if the document breaks a rule of contracts, or if it is beyond
    ///   one of the bounds in `ContractLimits`.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(ContractError) {
        guard bytes.count <= ContractLimits.bytes else {
            throw ContractError(.root, "a contract has at most 1 MiB; this one has \(bytes.count) bytes")
        }
        try self.init(json: try .reading(bytes, maximumValues: ContractLimits.values))
    }

    /// Reads a document's bytes, as from a buffer.
    public init(parsing bytes: [UInt8]) throws(ContractError) {
        self = try bytes.withUnsafeBytes { raw in
            Swift.Result { () throws(ContractError) in try Contract(parsing: raw) }
        }.get()
    }

    /// Reads a document that was parsed already.
    /// - Throws: as from bytes.
    public init(json: JSON) throws(ContractError) {
        try self.init(json: json, at: .root)
    }

    /// - Parameter path: where the document stands in a larger one.
    init(json: JSON, at path: ValuePath) throws(ContractError) {
        guard json.hasAtMost(ContractLimits.values) else {
            throw ContractError(path, "a contract has at most \(ContractLimits.values) JSON values")
        }
        var reader = ContractReader()
        self = try reader.contract(json, path)
    }
}

extension JSON {
    /// Parses a document within the bounds of contracts.
    static func reading(_ bytes: UnsafeRawBufferPointer, maximumValues: Int) throws(ContractError) -> JSON {
        do {
            return try JSON(parsing: bytes, maximumDepth: ContractLimits.depth, maximumValues: maximumValues)
        } catch {
            throw ContractError(.root, "not read as JSON: \(error)")
        }
    }

    /// Whether the value has at most so many values, itself included. It looks at no more than that.
    fileprivate func hasAtMost(_ most: Int) -> Bool {
        var left = most
        var waiting = [self]
        while let value = waiting.popLast() {
            left -= 1
            guard left >= 0 else { return false }
            switch value {
            case .array(let elements):
                guard elements.count <= left else { return false }
                waiting += elements
            case .object(let members):
                guard members.count <= left else { return false }
                waiting += members.map(\.value)
            case .null, .bool, .integer, .number, .string: break
            }
        }
        return true
    }
}

extension Schema {
    /// Reads a schema that stands alone.
    /// - Parameter definitions: the schemas that it may refer to.
    /// - Throws: if it isn't a schema that contracts have. The path of the error begins at the schema.
    public init(json: JSON, definitions: [String: Schema] = [:]) throws(ContractError) {
        var reader = SchemaReader()
        self = try reader.schema(json, .root)
        try reader.check(definitions, .root)
    }
}
