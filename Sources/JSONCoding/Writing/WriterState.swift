/// The state that all encoders and containers of one value share: the bytes so far, and the scopes
/// that are being written.
///
/// Bytes are written to a stream. A container stays open until something is written around it. If
/// it is written to after that, the new bytes go into a separate stream. At the end, each stream is
/// inserted where it belongs.
///
/// The properties are unchecked for exclusivity. Each access is a single load or store, or is in a
/// method that makes no calls which could return here.
final class WriterState {
    // The current stream.
    @exclusivity(unchecked) var base: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) var count = 0
    @exclusivity(unchecked) var capacity: Int
    @exclusivity(unchecked) var stream: Int32 = 0
    /// The current stream's innermost open scope.
    @exclusivity(unchecked) var top: Int32 = -1
    @exclusivity(unchecked) var topSerial: UInt32 = 0

    @exclusivity(unchecked) var scopes: UnsafeMutablePointer<Scope>
    @exclusivity(unchecked) var scopeCount: Int32 = 0
    @exclusivity(unchecked) private var scopeCapacity: Int32 = 16
    @exclusivity(unchecked) private var lastSerial: UInt32 = 0

    /// The streams; empty while one is enough. The first is the main one.
    @exclusivity(unchecked) var streams: [Stream] = []
    /// Whether a name may have been written twice in an object that spans several streams.
    @exclusivity(unchecked) var repeatsAcrossStreams = false
    /// The number of scopes from `superEncoder` in the value that is being written.
    @exclusivity(unchecked) var looseSlots = 0
    @exclusivity(unchecked) var makers = ContainerMakers()
    /// An error from a place that can't throw; it is thrown at the end.
    @exclusivity(unchecked) var failure: (any Error)?

    private static let firstCapacity = 512

    init() {
        capacity = Self.firstCapacity
        base = .allocate(capacity: capacity)
        scopes = .allocate(capacity: Int(scopeCapacity))
    }

    deinit {
        forgetStreams()
        base.deallocate()
        scopes.deallocate()
    }

    /// Prepares the state for another value.
    func reset() {
        forgetStreams()
        if capacity > JSONWriter.keptCapacity {
            base.deallocate()
            capacity = Self.firstCapacity
            base = .allocate(capacity: capacity)
        }
        if scopeCapacity > 1024 {
            scopes.deallocate()
            scopeCapacity = 16
            scopes = .allocate(capacity: Int(scopeCapacity))
        }
        makers.valueEnds()
        count = 0
        scopeCount = 0
        top = -1
        topSerial = 0
        looseSlots = 0
        repeatsAcrossStreams = false
        failure = nil
    }

    /// Keeps only the current stream's bytes.
    private func forgetStreams() {
        guard !streams.isEmpty else { return }
        for (index, other) in streams.enumerated() where index != stream { other.base?.deallocate() }
        streams = []
        stream = 0
    }

    // MARK: Bytes

    /// Returns the position for the next bytes, with space for `bytes` of them.
    @inline(__always)
    func room(_ bytes: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity - count < bytes { grow(by: bytes) }
        return base + count
    }

    @inline(never)
    private func grow(by bytes: Int) {
        capacity = max(capacity * 2, count + bytes)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
    }

    @inline(__always)
    func append(_ byte: UInt8) {
        room(1).pointee = byte
        count += 1
    }

    @inline(__always)
    func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        room(length).update(from: text.utf8Start, count: length)
        count += length
    }

    // MARK: Scopes

    /// Adds a scope for the member that begins at `start` in the top scope, and makes it the top.
    func push(start: Int) -> ScopeID {
        if scopeCount == scopeCapacity {
            let larger = UnsafeMutablePointer<Scope>.allocate(capacity: Int(scopeCapacity) * 2)
            larger.moveInitialize(from: scopes, count: Int(scopeCount))
            scopes.deallocate()
            scopes = larger
            scopeCapacity *= 2
        }
        lastSerial &+= 1
        var ordinal: Int32 = 0
        var depth: UInt8 = 0
        if top >= 0 {
            ordinal = scopes[Int(top)].count - 1
            depth = scopes[Int(top)].depth
        }
        (scopes + Int(scopeCount)).initialize(
            to: Scope(
                serial: lastSerial, parent: top, ordinal: ordinal, start: start, slot: count, stream: stream,
                depth: depth))
        top = scopeCount
        topSerial = lastSerial
        scopeCount += 1
        return ScopeID(index: top, serial: lastSerial)
    }

    /// Whether the scope may still be written to.
    func isAlive(_ id: ScopeID) -> Bool {
        id.index >= 0 && id.index < scopeCount && scopes[Int(id.index)].serial == id.serial
    }

    /// Makes a scope the one that is written to.
    /// - Throws: if the value that it belongs to is finished.
    @inline(__always)
    func select(_ id: ScopeID) throws {
        if id.serial != topSerial { try selectAnother(id) }
    }

    @inline(never)
    private func selectAnother(_ id: ScopeID) throws {
        guard isAlive(id) else { throw finished() }
        bringToTop(id.index)
    }

    /// Opens the scope as an array or an object, if it isn't open yet.
    func open(_ id: ScopeID, as kind: Scope.Kind) {
        guard isAlive(id) else { return }
        let index = Int(id.index)
        guard scopes[index].kind == .empty else {
            precondition(
                scopes[index].kind == kind, "a value is encoded as two different kinds at \(path(of: id.index))")
            return
        }
        if id.serial != topSerial { bringToTop(id.index) }
        append(kind == .array ? UInt8(ascii: "[") : UInt8(ascii: "{"))
        scopes[index].kind = kind
        scopes[index].contents = count
        guard scopes[index].depth < JSONWriter.maximumDepth else {
            if failure == nil { failure = tooDeep(id.index) }
            return
        }
        scopes[index].depth += 1
    }

    /// Ends the top scope, which isn't the root of its stream.
    func closeTop() {
        let scope = scopes + Int(top)
        if scope.pointee.kind == .dictionary || scope.pointee.mayRepeat {
            if scope.pointee.count > 1 { arrangeMembers(ofScopeAt: top) }
        }
        scope.pointee.isOpen = false
        scope.pointee.end = count
        switch scope.pointee.kind {
        case .array: append(UInt8(ascii: "]"))
        case .object, .dictionary: append(UInt8(ascii: "}"))
        case .empty, .scalar: break
        }
        setTop(scope.pointee.parent)
    }

    @inline(__always)
    func setTop(_ index: Int32) {
        top = index
        topSerial = index < 0 ? 0 : scopes[Int(index)].serial
    }
}
