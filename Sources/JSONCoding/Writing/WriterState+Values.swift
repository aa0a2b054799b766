internal import StrataCore

/// The start of a member.
struct MemberMark {
    /// The position before the comma, if there is one. If the member can't be written, the bytes
    /// from here on are removed.
    let position: Int
    /// The position of the name's opening quote; in an array, of the value.
    let start: Int
}

extension WriterState {
    /// Writes a whole value.
    func encodeTop<Value: Encodable>(_ value: Value) throws {
        let id = push(start: 0)
        let container = ValueWriter(state: self, id: id)
        try container.encode(value)
        guard scopes[0].kind != .empty else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "Top-level \(Value.self) did not encode any values."))
        }
        end(id, loose: 0)
        if !streams.isEmpty { joinStreams() }
        if let failure { throw failure }
    }

    /// Begins a member of an object, up to its value.
    func beginMember(_ id: ScopeID, _ name: String) throws -> MemberMark {
        try select(id)
        let position = count
        let scope = scopes + Int(id.index)
        if scope.pointee.count > 0 { append(UInt8(ascii: ",")) }
        scope.pointee.count += 1
        let start = count
        write(name)
        let bit = JSONString.nameBit(UnsafeRawBufferPointer(start: base + start + 1, count: count - start - 2))
        if scope.pointee.names & bit != 0 {
            scope.pointee.mayRepeat = true
            if !streams.isEmpty { repeatsAcrossStreams = true }
        }
        scope.pointee.names |= bit
        append(UInt8(ascii: ":"))
        return MemberMark(position: position, start: start)
    }

    /// Begins an element of an array.
    func beginElement(_ id: ScopeID) throws -> MemberMark {
        try select(id)
        let position = count
        let scope = scopes + Int(id.index)
        if scope.pointee.count > 0 { append(UInt8(ascii: ",")) }
        scope.pointee.count += 1
        return MemberMark(position: position, start: count)
    }

    /// Begins a single value of an encoder.
    func beginScalar(_ id: ScopeID) throws {
        try select(id)
        precondition(
            scopes[Int(id.index)].kind == .empty,
            "a second value is encoded at \(path(of: id.index).map(\.stringValue))")
        scopes[Int(id.index)].kind = .scalar
    }

    /// Writes the value of the member that was just begun. If that fails, the whole member is
    /// removed.
    func encode<Value: Encodable>(_ value: Value, at mark: MemberMark) throws {
        let parent = ScopeID(index: top, serial: topSerial)
        let loose = looseSlots
        let id = push(start: mark.start)
        do {
            if let failure { throw failure }
            if try !writeFoundationValue(value, in: id) { try value.encode(to: ValueWriter(state: self, id: id)) }
        } catch {
            takeBack(mark, parent, id, error)
            throw error
        }
        end(id, loose: loose)
    }

    /// Ends a value and everything inside it. If nothing was written, the value is `{}`.
    /// - Parameter loose: the number of loose slots before the value.
    private func end(_ id: ScopeID, loose: Int) {
        if looseSlots != loose || scopes[Int(id.index)].kind == .empty { fillSlots(from: id.index) }
        looseSlots = loose
        if streams.isEmpty {
            while top >= id.index { closeTop() }
        } else {
            closeInAllStreams(from: id.index)
        }
        scopeCount = id.index
    }

    private func fillSlots(from first: Int32) {
        for index in first..<scopeCount where scopes[Int(index)].kind == .empty {
            bringToTop(index)
            append("{}")
            scopes[Int(index)].kind = .scalar
        }
    }

    /// Restores the output to its state before a member.
    private func takeBack(_ mark: MemberMark, _ parent: ScopeID, _ id: ScopeID, _ error: any Error) {
        let scope = scopes + Int(parent.index)
        guard scope.pointee.isOpen else {
            // The value has also written outside its own container.
            if failure == nil { failure = error }
            return
        }
        if scope.pointee.stream != stream { activate(scope.pointee.stream) }
        for index in streams.indices where streams[index].root >= id.index { streams[index].position = -1 }
        scopeCount = id.index
        setTop(parent.index)
        scope.pointee.count -= 1
        count = mark.position
    }

    /// Removes what was written to a scope, so that another value can be written to it.
    func empty(_ id: ScopeID, after error: any Error) {
        guard isAlive(id) else { return }
        let scope = scopes + Int(id.index)
        guard scope.pointee.isOpen, scope.pointee.stream == scope.pointee.startStream else {
            // Something was written around it.
            if failure == nil { failure = error }
            return
        }
        if scope.pointee.stream != stream { activate(scope.pointee.stream) }
        for index in streams.indices where streams[index].root > id.index { streams[index].position = -1 }
        scopeCount = id.index + 1
        setTop(id.index)
        count = scope.pointee.slot
        scope.pointee.becomeEmpty()
    }

    // MARK: Errors

    /// Returns the keys that lead to a scope, from the written bytes.
    func path(of index: Int32) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var index = index
        while index > 0 {
            let scope = scopes[Int(index)]
            if scopes[Int(scope.parent)].kind == .array {
                path.append(PathKey(Int(scope.ordinal)))
            } else {
                path.append(PathKey(name(at: scope.start, in: scope.startStream)))
            }
            index = scope.parent
        }
        return path.reversed()
    }

    func path(of id: ScopeID) -> [any CodingKey] { isAlive(id) ? path(of: id.index) : [] }

    private func name(at start: Int, in number: Int32) -> String {
        let isCurrent = number == stream
        // because a stream that has a scope has bytes
        let bytes = isCurrent ? UnsafePointer(base) : UnsafePointer(streams[Int(number)].base!)
        let written = UnsafeRawBufferPointer(
            start: bytes, count: isCurrent ? count : streams[Int(number)].count)
        let end = WrittenMembers.stringEnd(written, from: start)
        return JSONString.string(UnsafeRawBufferPointer(rebasing: written[(start + 1)..<(end - 1)]), isEscaped: true)
    }

    func tooDeep(_ index: Int32) -> any Error {
        EncodingError.invalidValue(
            [String: Int](),
            .init(
                codingPath: path(of: index),
                debugDescription: "Arrays and objects are nested deeper than \(JSONWriter.maximumDepth)."))
    }

    func finished() -> any Error {
        EncodingError.invalidValue(
            "", .init(codingPath: [], debugDescription: "A container is written to whose value is finished."))
    }

    func notANumber(_ value: Any, _ what: String, _ path: [any CodingKey]) -> any Error {
        EncodingError.invalidValue(
            value,
            .init(codingPath: path, debugDescription: "Unable to encode \(what) directly in JSON."))
    }
}
