internal import FoundationEssentials
internal import StrataContracts
internal import StrataCore

/// A type whose schema is known, because it is a single value on the wire.
struct Leaf {
    let schema: Schema
    /// The values that are tried on an `init(from:)`, the most harmless first. Never empty.
    let probes: [Any]

    /// Nil for a type of another kind.
    static func of(_ type: any Any.Type) -> Leaf? { all[ObjectIdentifier(type)] }

    // Unchecked because each value in it is immutable and Sendable, behind `Any`.
    private nonisolated(unsafe) static let all: [ObjectIdentifier: Leaf] = {
        var all: [ObjectIdentifier: Leaf] = [:]
        func add<Value>(_ form: Schema.Form, _ probes: [Value]) {
            all[ObjectIdentifier(Value.self)] = Leaf(schema: Schema(form), probes: probes)
        }
        func add<Value: FixedWidthInteger>(_ type: Value.Type) {
            // Those of 64 bits and more aren't told apart on the wire, where most readers have 64 bits.
            let isShort = Value.bitWidth < 64
            add(
                .integer(
                    minimum: isShort ? Int64(Value.min) : Value.isSigned ? nil : 0,
                    maximum: isShort ? Int64(Value.max) : nil), [0, 1, 2, 10, 100] as [Value])
        }
        let number = Schema.Form.number(minimum: nil, maximum: nil, format: nil)
        add(.boolean, [false, true])
        add(
            .string(.init()),
            [
                "", "a", "0", "2001-01-01T00:00:00Z", "https://example.com/", "00000000-0000-0000-0000-000000000000",
                "a@example.com",
            ])
        add(Int.self)
        add(Int8.self)
        add(Int16.self)
        add(Int32.self)
        add(Int64.self)
        add(Int128.self)
        add(UInt.self)
        add(UInt8.self)
        add(UInt16.self)
        add(UInt32.self)
        add(UInt64.self)
        add(UInt128.self)
        add(number, [0, 1, 0.5, 100] as [Double])
        add(number, [0, 1, 0.5, 100] as [Float])
        add(.number(minimum: nil, maximum: nil, format: "decimal"), [0, 1, 100] as [Decimal])
        add(
            .string(.init(format: "date-time")),
            [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1_000_000_000)])
        add(.string(.init(contentEncoding: "base64")), [Data(), Data([0])])
        add(.string(.init(format: "uri-reference")), ["https://example.com/", "/a"].compactMap { URL(string: $0) })
        add(
            .string(.init(format: "uuid")),
            ["00000000-0000-0000-0000-000000000000", "11111111-1111-1111-1111-111111111111"]
                .compactMap { UUID(uuidString: $0) })
        add(.any, [JSON.null, [:]])
        return all
    }()
}
