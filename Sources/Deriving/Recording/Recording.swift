internal import StrataContracts

/// What one value's decoder was asked for.
final class Recording {
    private enum Content {
        case nothing
        case members([Member])
        case elements([Part])
        case single(Schema)
    }

    /// A part of the value that has a schema of its own, or is recorded itself.
    enum Part {
        case schema(Schema)
        case recording(Recording)

        var schema: Schema {
            switch self {
            case .schema(let schema): schema
            case .recording(let recording): recording.schema
            }
        }

        var recording: Recording? {
            if case .recording(let recording) = self { return recording }
            return nil
        }
    }

    private struct Member {
        let name: String
        var part: Part
        var isRequired: Bool
        /// The member's name in Swift, as far as its key says; nil if it says none.
        let swiftName: String?
    }

    let place: ValuePath
    private var content = Content.nothing
    /// Whether it was asked if the value is null.
    var asksForNull = false
    /// Whether it was asked if an array is at its end, so that it has any number of elements.
    var asksForEnd = false
    /// Whether it was asked how many elements an array has.
    var asksForCount = false

    init(_ place: ValuePath) { self.place = place }

    /// Whether it is one value, and no object or array of recorded parts.
    var isSingle: Bool {
        if case .single = content { return true }
        return false
    }

    /// A value of which nothing is asked may be any; it is written as an object.
    private var asksForNothing: Bool {
        if case .nothing = content { return true }
        return false
    }

    var schema: Schema {
        switch content {
        case .nothing: return Schema(.object(.init([])))
        case .members(let members):
            return Schema(
                .object(
                    .init(
                        members.map { member in
                            var isRequired = member.isRequired
                            if member.part.recording?.asksForNothing == true { isRequired = false }
                            return .init(member.name, member.part.schema, isRequired: isRequired)
                        })))
        case .elements(let elements):
            guard asksForEnd else { return Schema(.tuple(elements.map(\.schema))) }
            return Schema(.array(elements.first?.schema ?? Schema(.any), minimum: nil, maximum: nil))
        case .single(let schema): return schema
        }
    }

    /// Why there is no schema for it; nil if there is one.
    var problem: String? {
        let parts: [Part]
        switch content {
        case .nothing, .single: return nil
        case .members(let members): parts = members.map(\.part)
        case .elements(let elements):
            parts = elements
            if asksForEnd {
                guard elements.allSatisfy({ $0.schema == elements[0].schema }) else {
                    return "its init(from:) reads an array of any length, with elements of more than one type"
                }
            } else if elements.isEmpty {
                return "its init(from:) reads no element of an array"
            } else if asksForCount {
                return "its init(from:) asks how many elements an array has, so they depend on the data"
            }
        }
        return parts.lazy.compactMap(\.recording?.problem).first
    }

    /// Returns the names in Swift of those members whose names on the wire don't give them away.
    func swiftNames(of type: any Any.Type) -> [DerivedType.SwiftName] {
        guard case .members(let members) = content else { return [] }
        let own = TypeName(type).symbol
        return members.compactMap { member in
            guard let name = member.swiftName, name != "\(own).\(member.name)" else { return nil }
            return .init(pointer: "/properties/\(JSONPointer.token(member.name))", name: name)
        }
    }

    // MARK: Recording

    func beginObject(_ run: RecordingRun) throws {
        switch content {
        case .members: break
        case .nothing: content = .members([])
        case .elements, .single: throw conflict(run)
        }
    }

    func beginTuple(_ run: RecordingRun) throws {
        guard case .nothing = content else { throw conflict(run) }
        content = .elements([])
    }

    func single(_ schema: Schema, _ run: RecordingRun) throws {
        switch content {
        case .nothing: content = .single(schema)
        case .single(let other) where other == schema: break
        case .single, .members, .elements: throw conflict(run)
        }
    }

    func add(element part: Part) {
        guard case .elements(var elements) = content else { return }
        content = .nothing  // so that the array isn't copied
        elements.append(part)
        content = .elements(elements)
    }

    func add(member name: String, _ part: Part, isRequired: Bool, swiftName: String?, _ run: RecordingRun) throws {
        guard case .members(var members) = content else { return }
        guard let index = members.firstIndex(where: { $0.name == name }) else {
            members.append(Member(name: name, part: part, isRequired: isRequired, swiftName: swiftName))
            content = .members(members)
            return
        }
        guard case .schema(let known) = members[index].part, case .schema(let other) = part,
            known == other || known.orNull == other.orNull
        else {
            throw run.refuse("its init(from:) asks for `\(name)` as two types", at: place.member(name))
        }
        if isRequired { members[index] = Member(name: name, part: part, isRequired: true, swiftName: swiftName) }
        content = .members(members)
    }

    /// Returns the recording of a member that has a container or a decoder of its own.
    func nested(_ name: String, swiftName: String?, _ run: RecordingRun) throws -> Recording {
        if case .members(let members) = content, let known = members.first(where: { $0.name == name }),
            case .recording(let recording) = known.part
        {
            return recording
        }
        let recording = Recording(place.member(name))
        try add(member: name, .recording(recording), isRequired: true, swiftName: swiftName, run)
        return recording
    }

    private func conflict(_ run: RecordingRun) -> any Error {
        run.refuse("its init(from:) reads one value as two kinds, as an object and an array", at: place)
    }
}
