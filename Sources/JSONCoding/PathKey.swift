/// A key of a coding path that comes from the JSON: a member's name, or an element's index.
struct PathKey: CodingKey, Equatable {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(stringValue: String) { self.init(stringValue) }
    init(intValue: Int) { self.init(intValue) }

    /// The key that `superEncoder()` and `superDecoder()` use.
    static let ofSuper = PathKey("super")
}

/// The key type of the standard library's dictionaries, which has no public name.
enum DictionaryKey {
    static let type: ObjectIdentifier? = {
        let probe = KeyTypeProbe()
        try? [String: Int]().encode(to: probe)
        return probe.found
    }()
}

/// An encoder that only records the key type of the requested container.
private final class KeyTypeProbe: Encoder {
    private(set) var found: ObjectIdentifier?
    private let state = WriterState()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        found = ObjectIdentifier(type)
        return KeyedEncodingContainer(KeyedWriter<Key>(WriterPlace(state: state, id: .none)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedWriter(state: state, id: .none) }
    func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(state: state, id: .none) }
}
