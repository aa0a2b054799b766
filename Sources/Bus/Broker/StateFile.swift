internal import Glibc
import StrataCore

/// A broker's state on its way to the broker's next program: a sealed file in
/// memory. Bytes that wait in queues stand in a second file (`QueueFile`), which takes
/// them from where they are, without another copy.
///
/// Each part passes through it by one function for both directions
/// (`StatePart.pass`), so that what is written and what is read can't differ.
/// Integers are eight bytes, in the machine's order: both programs run on it.
struct StateFile: ~Copyable {
    /// What the file begins with. Another shape of the state has another number.
    static let mark = Array("strata state 9\n".utf8)
    /// So much is gathered before it is written.
    private static let piece = 1 << 20
    /// Fewer bytes that wait stand in this file, among the rest: a system call of their own
    /// costs more.
    static let fewBytes = 16 << 10

    private enum Way {
        case writing(Int32)
        /// The bytes, and how far they are read.
        case reading(UnsafeRawBufferPointer, Int)
    }

    private var way: Way
    private var gathered: [UInt8] = []
    private var queues = QueueFile()

    private init(_ way: Way) { self.way = way }

    /// The files of a state; both are closed by `exec`, where nobody hands them on.
    struct Descriptors: Equatable {
        var state: Int32
        /// -1 where nothing large waits.
        var queues: Int32

        /// Ends what `write` began, where nobody else does.
        func close() {
            Glibc.close(state)
            if queues >= 0 { Glibc.close(queues) }
        }
    }

    var isReading: Bool {
        if case .reading = way { true } else { false }
    }

    // MARK: whole files

    /// Writes a state, and seals it.
    /// - Returns: its descriptors, the caller's to close.
    static func write(_ state: BrokerState) throws(StateError) -> Descriptors {
        let descriptor: Int32
        do throws(SystemError) { descriptor = try MemoryFile.makeSealable("strata-state") } catch {
            throw StateError("no file for the state can be made: \(error)")
        }
        var file = StateFile(.writing(descriptor))
        do throws(StateError) {
            var (mark, state, queues) = (mark, state, Int32(-1))
            try file.bytes(&mark)
            let place = file.gathered.count
            try file.integer(&queues)
            try state.pass(&file)
            try file.writeGathered()
            queues = try file.queues.seal()
            var number = Int64(queues)
            guard pwrite(descriptor, &number, 8, place) == 8 else {
                throw StateError("the state can't be written: errno \(errno)")
            }
            do throws(SystemError) { try MemoryFile.seal(descriptor) } catch {
                throw StateError("the state's file can't be sealed: \(error)")
            }
            return Descriptors(state: descriptor, queues: queues)
        } catch {
            file.queues.close()
            close(descriptor)
            throw error
        }
    }

    /// Reads a state that another program wrote.
    static func read(_ descriptor: Int32) throws(StateError) -> BrokerState {
        guard MemoryFile.isSealed(descriptor) else {
            throw StateError("descriptor \(descriptor) is no sealed file in memory: strata-broker makes it itself")
        }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0, let memory = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), memory != MAP_FAILED else {
            throw StateError("the state's file can't be read: errno \(errno)")
        }
        defer { munmap(memory, size) }
        var file = StateFile(.reading(UnsafeRawBufferPointer(start: memory, count: size), 0))
        var mark: [UInt8] = []
        try file.bytes(&mark)
        guard mark == self.mark else {
            throw StateError(
                "the state is of another version of strata-broker (\"\(String(decoding: mark.prefix(32), as: UTF8.self))\"): "
                    + "end the app and start it anew")
        }
        var state = BrokerState()
        try file.integer(&state.queues.descriptor)
        try file.queues.map(state.queues.descriptor)
        state.queues.mapped = file.queues.mapped
        try state.pass(&file)
        guard case .reading(_, size) = file.way else { throw StateError("the state's file is longer than the state") }
        return state
    }

    // MARK: parts

    /// Passes an integer.
    mutating func integer<Value: FixedWidthInteger>(_ value: inout Value) throws(StateError) {
        switch way {
        case .writing:
            withUnsafeBytes(of: Int64(truncatingIfNeeded: value)) { gathered += $0 }
            if gathered.count >= Self.piece { try writeGathered() }
        case .reading(let bytes, let position):
            guard bytes.count - position >= 8 else { throw StateError.truncated }
            let read = bytes.loadUnaligned(fromByteOffset: position, as: Int64.self)
            let fitting = Value(truncatingIfNeeded: read)
            guard Int64(truncatingIfNeeded: fitting) == read else {
                throw StateError("the number \(read) is out of range")
            }
            value = fitting
            way = .reading(bytes, position + 8)
        }
    }

    /// Passes bytes.
    mutating func bytes(_ value: inout [UInt8]) throws(StateError) {
        var count = value.count
        try integer(&count)
        switch way {
        case .writing:
            gathered += value
            if gathered.count >= Self.piece { try writeGathered() }
        case .reading(let bytes, let position):
            guard count >= 0, bytes.count - position >= count else { throw StateError.truncated }
            value = Array(bytes[position..<position + count])
            way = .reading(bytes, position + count)
        }
    }

    /// Passes bytes that wait. Many that are read stay in their file: they are valid as long
    /// as the state's `mapped` lives.
    mutating func waiting(_ value: inout WaitingBytes) throws(StateError) {
        var count = value.count
        try integer(&count)
        guard count >= Self.fewBytes else {
            var few = isReading ? [] : value.array
            try bytes(&few)
            if isReading { value = .array(few) }
            return
        }
        guard isReading else {
            var start = try queues.append(value)
            return try integer(&start)
        }
        var start = 0
        try integer(&start)
        value = .pieces([try queues.bytes(from: start, count)])
    }

    /// Passes a list of plain numbers, as it stands in memory: any bytes are such a list.
    mutating func numbers<Number: BitwiseCopyable>(_ values: inout [Number]) throws(StateError) {
        var count = values.count
        try integer(&count)
        switch way {
        case .writing:
            values.withUnsafeBytes { gathered += $0 }
            if gathered.count >= Self.piece { try writeGathered() }
        case .reading(let bytes, let position):
            let stride = MemoryLayout<Number>.stride
            guard count >= 0, count <= (bytes.count - position) / stride else { throw StateError.truncated }
            let end = position + count * stride
            values = [Number](unsafeUninitializedCapacity: count) { memory, initialized in
                UnsafeMutableRawBufferPointer(memory).copyMemory(from: .init(rebasing: bytes[position..<end]))
                initialized = count
            }
            way = .reading(bytes, end)
        }
    }

    /// Passes a list. Each element takes eight bytes at least, so a count that is
    /// wrong asks for no more memory than the file has.
    mutating func list<Element>(
        _ values: inout [Element], _ blank: @autoclosure () -> Element,
        _ pass: (inout Element, inout StateFile) throws(StateError) -> Void
    ) throws(StateError) {
        var count = values.count
        try integer(&count)
        guard isReading else {
            for index in values.indices { try pass(&values[index], &self) }
            return
        }
        guard count >= 0, count <= left / 8 else { throw StateError.truncated }
        values = []
        values.reserveCapacity(count)
        for _ in 0..<count {
            var value = blank()
            try pass(&value, &self)
            values.append(value)
        }
    }

    /// Passes a value that may be nil.
    mutating func optional<Value>(
        _ value: inout Value?, _ blank: @autoclosure () -> Value,
        _ pass: (inout Value, inout StateFile) throws(StateError) -> Void
    ) throws(StateError) {
        var isThere = value != nil
        try callAsFunction(&isThere)
        guard isThere else {
            value = nil
            return
        }
        var present = value ?? blank()
        try pass(&present, &self)
        value = present
    }

    private var left: Int {
        guard case .reading(let bytes, let position) = way else { return 0 }
        return bytes.count - position
    }

    private mutating func writeGathered() throws(StateError) {
        guard case .writing(let descriptor) = way else { return }
        var rest = gathered[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw StateError("the state can't be written: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
        gathered.removeAll(keepingCapacity: true)
    }
}

/// Why a state could not be handed on, or not be taken over.
struct StateError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }

    static let truncated = StateError("the state's file ends before the state does")
}
