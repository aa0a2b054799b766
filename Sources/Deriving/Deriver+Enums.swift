internal import StrataContracts
internal import StrataCore

extension Deriver {
    // MARK: Raw values

    /// Derives an enum that is written as its raw value.
    /// - Returns: Whether it is one.
    func deriveRaw(_ type: any Decodable.Type, _ derived: DerivedType, at place: ValuePath) throws -> Bool {
        guard let raw = type as? any RawRepresentable.Type, EnumMetadata(type)?.hasPayloads == false else {
            return false
        }
        guard let rawValues = Self.rawValues(of: raw) else {
            throw DerivingError(
                type, at: place, "its cases can't be listed",
                advice: "conform it to CaseIterable, or to ContractDescribing")
        }
        var values: [JSON?] = []
        for rawValue in rawValues {
            let run = RecordingRun(self, type, variation: 0)
            run.given = rawValue
            guard let value = try? Self.run(type, run, at: place), run.root.isSingle, run.asked == 1,
                let decoded = value as? any RawRepresentable, Self.json(decoded.rawValue) == Self.json(rawValue)
            else { return false }
            values.append(Self.json(rawValue))
            derived.values.append(value)
        }
        guard values.count <= ContractLimits.enumeration else {
            throw DerivingError(type, at: place, "it has more than \(ContractLimits.enumeration) cases")
        }
        let known = values.compactMap { $0 }
        guard known.count == values.count, !known.isEmpty else {
            throw DerivingError(type, at: place, "its raw values aren't strings or integers of 64 bits")
        }
        derived.schema = Schema(.enumeration(known))
        derived.isDefinition = true
        return true
    }

    private static func rawValues<Value: RawRepresentable>(of type: Value.Type) -> [Any]? {
        EnumCases.values(of: type)?.map(\.rawValue)
    }

    /// Returns a raw value as it is written; nil if an enum in a contract can't have it.
    private static func json(_ rawValue: Any) -> JSON? {
        if let text = rawValue as? String { return .string(text) }
        return (rawValue as? any BinaryInteger).flatMap { Int64(exactly: $0) }.map { .integer($0) }
    }

    // MARK: Cases with values

    /// Derives an enum that is written as an object with one member: the name of the case, with the
    /// case's values.
    /// - Returns: Whether it is one.
    func deriveCases(_ type: any Decodable.Type, _ derived: DerivedType, at place: ValuePath) throws -> Bool {
        let (probe, _) = try run(0, of: type, at: place)
        let count = probe.choices.count
        guard count > 0 else { return false }
        guard count <= ContractLimits.alternatives else {
            throw DerivingError(
                type, at: place, "it has \(count) cases, and a contract takes \(ContractLimits.alternatives)",
                advice: "give it a raw type, or conform it to ContractDescribing")
        }
        var cases: [Int: Schema] = [:]
        // A case that needs a value of the enum itself waits for a case that doesn't.
        var left = Array(0..<count)
        while !left.isEmpty {
            var waiting: [Int] = []
            for choice in left {
                let (run, value) = try run(choice, of: type, at: place)
                guard let value else {
                    waiting.append(choice)
                    continue
                }
                cases[choice] = try schema(of: run, at: place)
                derived.values.append(value)
                derived.swiftNames += run.root.swiftNames(of: type).map {
                    .init(pointer: "/anyOf/\(choice)\($0.pointer)", name: $0.name)
                }
                try tryErrors(type, run, at: place)
            }
            guard waiting.count < left.count else { throw endless(type, at: place) }
            left = waiting
        }
        derived.schema = Schema(.union(cases.sorted { $0.key < $1.key }.map(\.value)))
        derived.isDefinition = true
        return true
    }

    /// Tries one case, with several values.
    /// - Returns: No value if it needs one of the enum first.
    private func run(_ choice: Int, of type: any Decodable.Type, at place: ValuePath) throws -> (
        RecordingRun, (any Decodable)?
    ) {
        var failed: RecordingRun?
        var failure: (any Error)?
        var variation = 0
        while variation < min(failed?.variations ?? 1, Self.mostRuns) {
            let run = RecordingRun(self, type, variation: variation)
            run.choice = choice
            do { return (run, try Self.run(type, run, at: place)) } catch let error as NeedsValue
                where error.type == type
            {
                return (run, nil)
            } catch {
                // One that doesn't ask for its case is refused for what it does, when it is recorded.
                if run.choices.isEmpty { return (run, nil) }
                if run.stop != nil { throw error }
                failure = error
                failed = run
            }
            variation += 1
        }
        throw throwsAlways(type, at: place, variation, failure)
    }

    /// Returns the schema of one case.
    private func schema(of run: RecordingRun, at place: ValuePath) throws -> Schema {
        // because a run with choices has one
        let name = run.choices[run.choice! % run.choices.count]
        guard case .object(let members) = run.root.schema.form, members.properties.allSatisfy({ $0.name == name })
        else {
            throw DerivingError(
                run.type, at: place.member(name), "its init(from:) reads something beside the case's own member")
        }
        let values = members.properties.first?.schema ?? Schema(.object(.init([])))
        return Schema(.object(.init([.init(name, values)], isClosed: true)))
    }
}
