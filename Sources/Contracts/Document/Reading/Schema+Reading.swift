public import StrataCore

extension Schema {
    /// Reads a schema that stands by itself, without definitions to refer to.
    /// - Throws: if it isn't a schema of contracts.
    public init(json: JSON) throws(ContractError) {
        var reader = SchemaReader()
        self = try reader.schema(json, .root)
        try reader.check([:], .root)
    }
}
