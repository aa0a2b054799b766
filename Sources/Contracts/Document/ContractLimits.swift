/// The bounds of a contract's document. A reader refuses what is beyond.
public enum ContractLimits {
    /// The bytes of a document: 1 MiB.
    public static let bytes = 1 << 20
    /// The JSON values of a document; the names of members don't count.
    public static let values = 65_536
    /// How deeply the JSON of a document is nested.
    public static let depth = 128
    /// How deeply schemas are nested. It also bounds the steps from a schema through `$ref` and
    /// `anyOf` alone.
    public static let schemaDepth = 32
    /// The alternatives of an `anyOf`. Those of the `anyOf`s that it refers to count, too.
    public static let alternatives = 64
    /// The values of an `enum`.
    public static let enumeration = 4_096
    /// The bytes of a module's contracts: 16 MiB.
    public static let moduleBytes = 16 << 20
    /// The JSON values of a module's contracts.
    public static let moduleValues = 1 << 20
    /// The longest name of a notification, in bytes, as in the protocol.
    static let noticeName = 256
    /// The longest error code, in bytes.
    static let errorCode = 128
    /// The longest name in `$defs`, in bytes.
    static let definitionName = 128
}
