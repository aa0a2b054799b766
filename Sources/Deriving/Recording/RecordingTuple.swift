internal import StrataContracts

/// The container of an array. One that is read straight through is a tuple; one that is read to its
/// end is an array of any length, and has one or two elements here.
struct RecordingTuple: UnkeyedDecodingContainer {
    let run: RecordingRun
    let recording: Recording
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(run: RecordingRun, recording: Recording, codingPath: [any CodingKey]) {
        self.run = run
        self.recording = recording
        self.codingPath = codingPath
    }

    var count: Int? {
        recording.asksForCount = true
        return nil
    }

    var isAtEnd: Bool {
        recording.asksForEnd = true
        return currentIndex > run.variation % 2
    }

    func decodeNil() throws -> Bool { throw refuse("decodeNil()") }

    // The standard library's own for these would throw.
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try value(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try value(type) }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }

    private mutating func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (place, path) = next()
        // because only an optional answer can be nil
        return try run.answer(type, at: place, path: path) { recording.add(element: .schema($0)) }!
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        throw refuse("decodeIfPresent")
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
        -> KeyedDecodingContainer<Nested>
    {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let (place, path) = next()
        let nested = Recording(place)
        recording.add(element: .recording(nested))
        return RecordingDecoder(run: run, recording: nested, codingPath: path)
    }

    private mutating func next() -> (ValuePath, [any CodingKey]) {
        defer { currentIndex += 1 }
        return (recording.place.element(currentIndex), codingPath + [RecordingKey(intValue: currentIndex)])
    }

    private func refuse(_ what: String) -> any Error {
        run.refuse("its init(from:) asks an array for \(what), so its elements depend on the data", at: recording.place)
    }
}
