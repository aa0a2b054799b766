internal import StrataContracts

/// A decoder that records what a type asks for. It is also the container of a single value.
struct RecordingDecoder: Decoder, SingleValueDecodingContainer {
    let run: RecordingRun
    let recording: Recording
    var codingPath: [any CodingKey] = []

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try recording.beginObject(run)
        return KeyedDecodingContainer(RecordingObject<Key>(run: run, recording: recording, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try recording.beginTuple(run)
        return RecordingTuple(run: run, recording: recording, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool {
        recording.asksForNull = true
        return run.answersNull
    }

    // The standard library's own for these would throw.
    func decode(_ type: Int128.Type) throws -> Int128 { try value(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try value(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }

    private func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // because only an optional answer can be nil
        try run.answer(type, at: recording.place, path: codingPath) { try recording.single($0, run) }!
    }
}

/// A key of the paths in errors.
struct RecordingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
