// Handles writes to a container after its parent has continued. They are rare, and never happen
// with encoding that the compiler generates.
extension WriterState {
    /// Makes a scope the top of the current stream.
    func bringToTop(_ index: Int32) {
        let scope = scopes + Int(index)
        guard scope.pointee.isOpen else {
            continueInStreamOfItsOwn(index)
            return
        }
        if scope.pointee.stream != stream { activate(scope.pointee.stream) }
        while top != index { closeTop() }
    }

    private func continueInStreamOfItsOwn(_ index: Int32) {
        if streams.isEmpty { streams = [Stream(top: top, root: -1, rootSerial: 0, parent: -1, position: -1)] }
        let scope = scopes + Int(index)
        streams.append(
            Stream(
                base: .allocate(capacity: 256), capacity: 256, top: index, root: index,
                rootSerial: scope.pointee.serial, parent: scope.pointee.stream, position: scope.pointee.end,
                isWhole: scope.pointee.kind == .empty))
        // Its first members are in the other stream, so they can't be sorted any more.
        if scope.pointee.kind == .dictionary { scope.pointee.kind = .object }
        scope.pointee.stream = Int32(streams.count - 1)
        scope.pointee.isOpen = true
        activate(scope.pointee.stream)
    }

    /// Makes another stream the current one.
    func activate(_ number: Int32) {
        if number == stream { return }
        streams[Int(stream)].base = base
        streams[Int(stream)].count = count
        streams[Int(stream)].capacity = capacity
        streams[Int(stream)].top = top
        stream = number
        // because a stream that isn't current has stored its bytes
        base = streams[Int(number)].base!
        count = streams[Int(number)].count
        capacity = streams[Int(number)].capacity
        setTop(streams[Int(number)].top)
    }

    /// Closes all scopes from an index on. If a stream's root was empty before, its end is in that
    /// stream; otherwise it is where the stream's bytes belong.
    func closeInAllStreams(from first: Int32) {
        let current = stream
        for number in streams.indices {
            activate(Int32(number))
            let root = streams[number].root
            while top >= first, top != root { closeTop() }
            if top >= first, top == root, streams[number].isWhole {
                closeTop()
                // The scopes around it are in another stream.
                setTop(-1)
            }
        }
        activate(current)
    }

    /// Inserts each stream's bytes where they belong, which leaves a single stream.
    func joinStreams() {
        activate(0)
        streams[0].base = base
        streams[0].count = count
        var children: [Int32: [Int]] = [:]
        for number in streams.indices.dropFirst() where streams[number].position >= 0 {
            children[streams[number].parent, default: []].append(number)
        }
        var joined: [UInt8] = []
        append(streamAt: 0, to: &joined, children)
        count = 0
        joined.withUnsafeBufferPointer { bytes in
            // because the main stream isn't empty
            room(bytes.count).update(from: bytes.baseAddress!, count: bytes.count)
        }
        count = joined.count
        if repeatsAcrossStreams { dropRepeatedMembers() }
    }

    private func append(streamAt number: Int, to joined: inout [UInt8], _ children: [Int32: [Int]]) {
        // If two belong to the same position, the inner scope's bytes come first.
        let parts = children[Int32(number), default: []].sorted {
            (streams[$0].position, streams[$1].rootSerial) < (streams[$1].position, streams[$0].rootSerial)
        }
        let bytes = UnsafeBufferPointer(start: streams[number].base, count: streams[number].count)
        var written = 0
        for part in parts {
            joined.append(contentsOf: bytes[written..<streams[part].position])
            written = streams[part].position
            append(streamAt: part, to: &joined, children)
        }
        joined.append(contentsOf: bytes[written...])
    }
}
