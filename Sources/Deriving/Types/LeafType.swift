internal import FoundationEssentials
internal import StrataContracts
internal import StrataCore

/// A type whose schema is known, because it is a single value on the wire.
protocol LeafType {
    static var leafSchema: Schema { get }
    /// The values that are tried on an `init(from:)`, the most harmless first. Never empty.
    static var probes: [Self] { get }
}

extension Bool: LeafType {
    static var leafSchema: Schema { Schema(.boolean) }
    static var probes: [Bool] { [false, true] }
}

extension String: LeafType {
    static var leafSchema: Schema { Schema(.string(.init())) }
    static var probes: [String] {
        [
            "", "a", "0", "2001-01-01T00:00:00Z", "https://example.com/", "00000000-0000-0000-0000-000000000000",
            "a@example.com",
        ]
    }
}

extension LeafType where Self: FixedWidthInteger {
    static var leafSchema: Schema {
        // Those of 64 bits and more aren't told apart on the wire, where most readers have 64 bits.
        guard bitWidth < 64 else { return Schema(.integer(minimum: isSigned ? nil : 0, maximum: nil)) }
        return Schema(.integer(minimum: Int64(min), maximum: Int64(max)))
    }
    static var probes: [Self] { [0, 1, 2, 10, 100] }
}

extension Int: LeafType {}
extension Int8: LeafType {}
extension Int16: LeafType {}
extension Int32: LeafType {}
extension Int64: LeafType {}
extension Int128: LeafType {}
extension UInt: LeafType {}
extension UInt8: LeafType {}
extension UInt16: LeafType {}
extension UInt32: LeafType {}
extension UInt64: LeafType {}
extension UInt128: LeafType {}

extension Double: LeafType {
    static var leafSchema: Schema { Schema(.number(minimum: nil, maximum: nil, format: nil)) }
    static var probes: [Double] { [0, 1, 0.5, 100] }
}

extension Float: LeafType {
    static var leafSchema: Schema { Double.leafSchema }
    static var probes: [Float] { [0, 1, 0.5, 100] }
}

extension Decimal: LeafType {
    static var leafSchema: Schema { Schema(.number(minimum: nil, maximum: nil, format: "decimal")) }
    static var probes: [Decimal] { [0, 1, 100] }
}

extension Date: LeafType {
    static var leafSchema: Schema { Schema(.string(.init(format: "date-time"))) }
    static var probes: [Date] { [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1e9)] }
}

extension Data: LeafType {
    static var leafSchema: Schema { Schema(.string(.init(contentEncoding: "base64"))) }
    static var probes: [Data] { [Data(), Data([0])] }
}

extension URL: LeafType {
    static var leafSchema: Schema { Schema(.string(.init(format: "uri-reference"))) }
    // because both are URLs
    static var probes: [URL] { [URL(string: "https://example.com/")!, URL(string: "file:///a")!] }
}

extension UUID: LeafType {
    static var leafSchema: Schema { Schema(.string(.init(format: "uuid"))) }
    static var probes: [UUID] {
        [
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
            UUID(uuid: (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)),
        ]
    }
}

extension JSON: LeafType {
    static var leafSchema: Schema { Schema(.any) }
    static var probes: [JSON] { [.null, .object([])] }
}
