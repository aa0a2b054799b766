internal import StrataContracts

/// One run of a type's `init(from:)`: what it is answered with, and what it asked for.
final class RecordingRun {
    let deriver: Deriver
    let type: any Decodable.Type
    /// Which of the possible values it is answered with; the first is the most harmless one.
    let variation: Int
    /// What the run asked for, from its beginning.
    var root = Recording(.root)

    /// Which request is answered with an error, of those that ask for a value; nil for none.
    var failsAt: Int?
    /// Whether that error is that of a missing member.
    var failsAsMissing = false
    /// The place of the value in whose place an error was thrown.
    private(set) var failed: ValuePath?
    /// Whether a single value is null.
    var answersNull = false
    /// The value that a request for its type is answered with; nil for none.
    var given: Any?
    /// The case that an enum's `allKeys` answers with; nil if the type isn't an enum.
    var choice: Int?
    /// The names of all cases, once `allKeys` was asked for.
    var choices: [String] = []

    /// The number of values that it asked for.
    private(set) var asked = 0
    /// The most values that one of its requests could be answered with.
    private(set) var variations = 2
    /// Why it ends, whatever the type makes of the errors that it is thrown.
    private(set) var stop: (any Error)?

    /// The most values that a run may ask for.
    private static let mostAsked = 4_096

    init(_ deriver: Deriver, _ type: any Decodable.Type, variation: Int) {
        self.deriver = deriver
        self.type = type
        self.variation = variation
    }

    /// Refuses the type.
    /// - Returns: The reason, to be thrown.
    @discardableResult
    func refuse(_ reason: String, at place: ValuePath) -> any Error {
        let error = DerivingError(type, at: place, reason)
        if stop == nil { stop = error }
        return error
    }

    /// Records a value that is asked for, and returns one.
    /// - Parameters:
    ///   - path: For the errors that its type may look at.
    ///   - record: Records the type's schema.
    func answer<Value: Decodable>(
        _ type: Value.Type, at place: ValuePath, path: [any CodingKey], isOptional: Bool = false,
        _ record: (Schema) throws -> Void
    ) throws -> Value? {
        asked += 1
        guard asked <= Self.mostAsked else {
            throw refuse("its init(from:) asks for more than \(Self.mostAsked) values", at: place)
        }
        if let failsAt, asked > failsAt {
            if asked == failsAt + 1 { failed = place }
            throw error(type, path)
        }
        if let given, let value = given as? Value {
            try record(Schema(.any))
            return value
        }
        do {
            try record(try deriver.schema(of: type, at: place))
            variations = max(variations, deriver.variations(of: type))
            guard isOptional else { return try deriver.value(of: type, variation) }
            return variation == 0 ? nil : try deriver.valueIfMade(of: type, variation)
        } catch {
            if stop == nil { stop = error }
            throw error
        }
    }

    private func error(_ type: any Any.Type, _ path: [any CodingKey]) -> DecodingError {
        if failsAsMissing, let key = path.last {
            return .keyNotFound(key, .init(codingPath: path.dropLast(), debugDescription: "No value."))
        }
        return .typeMismatch(type, .init(codingPath: path, debugDescription: "Another value."))
    }

    /// - Throws: `DerivingError` if it asked for something else than another run.
    func isSame(as other: RecordingRun, at place: ValuePath) throws {
        let (own, others) = (root.schema, other.root.schema)
        guard own != others else { return }
        var differing = place
        if case .object(let ours) = own.form, case .object(let theirs) = others.form {
            let different = (ours.properties + theirs.properties).first { property in
                !ours.properties.contains(property) || !theirs.properties.contains(property)
            }
            if let different { differing = place.member(different.name) }
        }
        throw DerivingError(
            type, at: differing, "its init(from:) asks for other members when their values are others")
    }
}
