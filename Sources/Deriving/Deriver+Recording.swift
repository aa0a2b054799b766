internal import StrataContracts

extension Deriver {
    /// The most runs of one `init(from:)` with other values.
    static let mostRuns = 16
    /// The most values for which an error is tried in their place.
    private static let mostErrors = 256

    /// Derives a type from what its `init(from:)` asks for.
    func record(_ type: any Decodable.Type, _ derived: DerivedType, at place: ValuePath) throws {
        let (first, value) = try firstRun(type, at: place)
        derived.values = [value]
        var variation = first.variation + 1
        while variation < min(first.variations, Self.mostRuns) {
            let run = RecordingRun(self, type, variation: variation)
            variation += 1
            do {
                let value = try Self.run(type, run, at: place)
                try run.isSame(as: first, at: place)
                derived.values.append(value)
            } catch let refusal as DerivingError {
                throw refusal
            } catch {
                // It takes some values only. The check with values of the whole schema finds that.
            }
        }
        try tryErrors(type, first, at: place)
        derived.schema = takesNull(type, first, at: place) ? first.root.schema.orNull : first.root.schema
        derived.swiftNames = first.root.swiftNames(of: type)
        // A single value is written as itself, wherever it stands.
        if !first.root.isSingle { derived.isDefinition = true }
    }

    /// Returns the first run that makes a value.
    private func firstRun(_ type: any Decodable.Type, at place: ValuePath) throws -> (
        RecordingRun, any Decodable
    ) {
        var failed: RecordingRun?
        var failure: (any Error)?
        var variation = 0
        while variation < min(failed?.variations ?? 1, Self.mostRuns) {
            let run = RecordingRun(self, type, variation: variation)
            do { return (run, try Self.run(type, run, at: place)) } catch let error as NeedsValue
                where error.type == type
            {
                throw endless(type, at: place)
            } catch {
                if run.stop != nil { throw error }
                failure = error
                failed = run
            }
            variation += 1
        }
        throw throwsAlways(type, at: place, variation, failure)
    }

    /// Runs an `init(from:)` once.
    static func run(_ type: any Decodable.Type, _ run: RecordingRun, at place: ValuePath) throws -> any Decodable {
        run.root = Recording(place)
        let result = Result { try type.init(from: RecordingDecoder(run: run, recording: run.root)) }
        // It may have caught what it was thrown.
        if let stop = run.stop { throw stop }
        let value = try result.get()
        if let problem = run.root.problem { throw run.refuse(problem, at: place) }
        return value
    }

    /// Checks that an error in place of a value ends the `init(from:)`. One that goes on takes more
    /// than it was seen to ask for.
    /// - Parameter run: A run that made a value.
    func tryErrors(_ type: any Decodable.Type, _ run: RecordingRun, at place: ValuePath) throws {
        for position in 0..<min(run.asked, Self.mostErrors) {
            for isMissing in [false, true] {
                let again = RecordingRun(self, type, variation: run.variation)
                again.choice = run.choice
                again.failsAt = position
                again.failsAsMissing = isMissing
                guard (try? Self.run(type, again, at: place)) != nil || again.asked > position + 1 else { continue }
                throw DerivingError(
                    type, at: again.failed ?? place,
                    "its init(from:) goes on \(isMissing ? "without this value" : "after a value of another type"), so "
                        + "it takes more than it asks for")
            }
        }
    }

    /// Whether a type that asked for null takes it.
    private func takesNull(_ type: any Decodable.Type, _ first: RecordingRun, at place: ValuePath) -> Bool {
        guard first.root.asksForNull else { return false }
        let run = RecordingRun(self, type, variation: first.variation)
        run.answersNull = true
        return (try? Self.run(type, run, at: place)) != nil && run.asked == 0
    }

    // MARK: Errors

    func endless(_ type: any Any.Type, at place: ValuePath) -> DerivingError {
        DerivingError(
            type, at: place, "each of its values has another one in it, without an end",
            advice: "make the inner one optional, or an array")
    }

    func throwsAlways(_ type: any Any.Type, at place: ValuePath, _ tries: Int, _ failure: (any Error)?) -> DerivingError
    {
        DerivingError(
            type, at: place,
            "its init(from:) throws for each of the \(tries) values that were tried (\(Self.text(failure)))")
    }

    static func text(_ error: (any Error)?) -> String {
        switch error as? DecodingError {
        case .dataCorrupted(let context)?: context.debugDescription
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?: context.debugDescription
        case .keyNotFound(let key, _)?: "no value for \(key.stringValue)"
        default: error.map { "\($0)" } ?? "no value was made"
        }
    }
}
