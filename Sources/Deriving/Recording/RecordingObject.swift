internal import StrataContracts

/// The container of an object's members.
struct RecordingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let run: RecordingRun
    let recording: Recording
    let codingPath: [any CodingKey]
    /// The keys' names in Swift; nil if the keys aren't cases of an enum.
    private let names = EnumMetadata(Key.self)

    init(run: RecordingRun, recording: Recording, codingPath: [any CodingKey]) {
        self.run = run
        self.recording = recording
        self.codingPath = codingPath
    }

    /// The case that is being tried, if this is the enum's own container. Other types have no keys to
    /// ask for: what they read depends on the data.
    var allKeys: [Key] {
        guard let choice = run.choice, recording === run.root else {
            refuse("allKeys")
            return []
        }
        guard let keys = EnumCases.values(of: Key.self) else {
            refuse("allKeys, and \(TypeName(Key.self).shown) isn't an enum")
            return []
        }
        run.choices = keys.map(\.stringValue)
        return [keys[choice % keys.count]]
    }

    func contains(_ key: Key) -> Bool {
        refuse("contains", key)
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool { throw refuse("decodeNil", key) }

    // The standard library's own for these would throw, or ask `contains`.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try value(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try value(type, key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try valueIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try valueIfPresent(type, key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try value(type, key) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try valueIfPresent(type, key)
    }

    private func value<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        // because only an optional answer can be nil
        try run.answer(type, at: recording.place.member(key.stringValue), path: codingPath + [key]) {
            try recording.add(
                member: key.stringValue, .schema($0), isRequired: true, swiftName: swiftName(key), run)
        }!
    }

    private func valueIfPresent<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        try run.answer(
            type, at: recording.place.member(key.stringValue), path: codingPath + [key], isOptional: true
        ) {
            try recording.add(
                member: key.stringValue, .schema($0.orNull), isRequired: false, swiftName: swiftName(key), run)
        }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<Nested>
    {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        try superDecoder(RecordingKey(stringValue: "super"), swiftName: nil)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(key, swiftName: swiftName(key)) }

    private func superDecoder(_ key: any CodingKey, swiftName: String?) throws -> any Decoder {
        let nested = try recording.nested(key.stringValue, swiftName: swiftName, run)
        return RecordingDecoder(run: run, recording: nested, codingPath: codingPath + [key])
    }

    /// Returns the key's case as a member of the type that its enum is in: `Shop.Item.page`.
    private func swiftName(_ key: Key) -> String? {
        guard let name = names?.name(of: key) else { return nil }
        let keys = TypeName(Key.self).symbol
        guard let dot = keys.lastIndex(of: ".") else { return nil }
        return "\(keys[..<dot]).\(name)"
    }

    private func refuse(_ what: String) {
        run.refuse("its init(from:) asks for \(what), so its members depend on the data", at: recording.place)
    }

    @discardableResult
    private func refuse(_ what: String, _ key: Key) -> any Error {
        run.refuse(
            "its init(from:) asks \(what)(\(key.stringValue)), so its members depend on the data",
            at: recording.place.member(key.stringValue))
    }
}
