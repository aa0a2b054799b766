internal import Glibc
import StrataCore
import StrataLoop

/// A broker's state on its way to the next program, in a sealed file in memory. Bytes that wait in
/// queues are in a second file (`QueueFile`), to which they are written without another copy.
///
/// The file begins with a mark, and fields follow. Each field begins with a word of eight bytes:
/// its tag, its kind, and a number or a count. A reader can skip fields that it doesn't know, so
/// brokers of other builds understand the state (`StatePart`). The idea is from Protocol Buffers.
/// Words and numbers have the machine's byte order, because both programs run on the same machine.
struct StateFile: ~Copyable {
    /// The first bytes of the file. A format with other words or kinds needs another mark.
    static let mark = Array("strata state 10\n".utf8)
    /// The number of bytes that are gathered before they are written.
    private static let piece = 1 << 20
    /// Fewer waiting bytes than this are stored in this file: a separate system call would cost
    /// more.
    static let fewBytes = 16 << 10
    /// The deepest nesting of parts and lists that is accepted; a state needs six levels.
    private static let mostDeep = 32

    /// The kind of a field, which says what follows its word.
    enum Kind: UInt64 {
        /// Nothing: the part has no more fields.
        case end
        /// Nothing: the number is in the word.
        case number
        /// The number, in eight bytes.
        case largeNumber
        /// The bytes; the word has their count.
        case bytes
        /// The offset of the bytes in the queues' file; the word has their count.
        case waiting
        /// Fields, up to an `end`.
        case part
        /// Elements, each a field without a tag; the word has their count.
        case list
    }

    /// The first eight bytes of a field.
    private struct Word {
        static let numberBits: UInt64 = 40

        var tag: UInt16
        var kind: Kind
        var number: UInt64

        init(_ tag: UInt16, _ kind: Kind, _ number: UInt64) {
            (self.tag, self.kind, self.number) = (tag, kind, number)
        }

        init?(bits: UInt64) {
            guard let kind = Kind(rawValue: bits >> 16 & 0xFF) else { return nil }
            self.init(UInt16(truncatingIfNeeded: bits), kind, bits >> 24)
        }

        var bits: UInt64 { UInt64(tag) | kind.rawValue << 16 | number << 24 }
    }

    private enum Way {
        case writing(Int32)
        /// The bytes, and the position up to which they are read.
        case reading(UnsafeRawBufferPointer, Int)
    }

    private var way: Way
    private var gathered: [UInt8] = []
    /// The tag of the field that is being written; 0 for an element of a list.
    private var tag: UInt16 = 0
    private var queues = QueueFile()

    private init(_ way: Way) { self.way = way }

    /// The files of a state. Both are closed on `exec` unless they are handed on.
    struct Descriptors: Equatable {
        var state: Int32
        /// The queues' file; -1 if nothing large waits.
        var queues: Int32

        /// Closes what `write` opened, if no other code does.
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
    /// - Returns: the descriptors, which the caller closes.
    static func write(_ state: some StatePart) throws(StateError) -> Descriptors {
        let descriptor: Int32
        do throws(SystemError) { descriptor = try MemoryFile.makeSealable("strata-state") } catch {
            throw StateError("can't make a file for the state: \(error)")
        }
        var file = StateFile(.writing(descriptor))
        do throws(StateError) {
            var state = state
            file.gathered = mark
            // Space for the descriptor of the queues' file, which is known only at the end.
            file.append(-1)
            try state.pass(&file)
            try file.writeGathered()
            var queues = Int64(try file.queues.seal())
            guard pwrite(descriptor, &queues, 8, mark.count) == 8 else {
                throw StateError("the state can't be written: errno \(errno)")
            }
            do throws(SystemError) { try MemoryFile.seal(descriptor) } catch {
                throw StateError("the state's file can't be sealed: \(error)")
            }
            return Descriptors(state: descriptor, queues: Int32(queues))
        } catch {
            file.queues.close()
            close(descriptor)
            throw error
        }
    }

    /// Writes a state and reads it again, as a program and the next one do.
    static func reread(_ state: BrokerState) throws(StateError) -> BrokerState {
        let files = try write(state)
        defer { files.close() }
        return try read(files.state)
    }

    /// Reads a state that another program wrote.
    static func read(_ descriptor: Int32) throws(StateError) -> BrokerState {
        guard MemoryFile.isSealed(descriptor) else {
            throw StateError("descriptor \(descriptor) is not a sealed file in memory: only strata-broker makes it")
        }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0, let memory = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), memory != MAP_FAILED else {
            throw StateError("the state's file can't be read: errno \(errno)")
        }
        defer { munmap(memory, size) }
        let bytes = UnsafeRawBufferPointer(start: memory, count: size)
        guard bytes.starts(with: mark), size >= mark.count + 8 else {
            throw StateError(
                "the state is of another version of strata-broker (\"\(String(decoding: bytes.prefix(mark.count), as: UTF8.self))\"): "
                    + "end the app and start it anew")
        }
        var file = StateFile(.reading(bytes, mark.count))
        var state = BrokerState()
        let queues = try file.eightBytes()
        state.queues.descriptor = Int32(truncatingIfNeeded: queues)
        try file.queues.map(state.queues.descriptor)
        state.queues.mapped = file.queues.mapped
        try state.pass(&file)
        guard case .reading(_, size) = file.way else { throw StateError("the state's file is longer than the state") }
        return state
    }

    // MARK: fields

    /// - Returns: whether the field is there; always true when writing.
    mutating func begins(_ tag: UInt16) throws(StateError) -> Bool {
        guard isReading else {
            assert(tag > self.tag, "field \(tag) comes after field \(self.tag)")
            self.tag = tag
            return true
        }
        while true {
            let word = try peek()
            // Tags are in order, so the field is missing.
            if word.kind == .end || word.tag > tag { return false }
            if word.tag == tag { return true }
            try passOver()
        }
    }

    /// Begins an element of a list, which is a field without a tag.
    mutating func beginElement() { tag = 0 }

    /// Passes a group of fields.
    mutating func part(_ fields: (inout StateFile) throws(StateError) -> Void) throws(StateError) {
        var none: UInt64 = 0
        try word(.part, &none)
        // A part has tags of its own.
        let outer = tag
        tag = 0
        try fields(&self)
        // Another build may have written further fields.
        if isReading { while try peek().kind != .end { try passOver() } }
        tag = 0
        try word(.end, &none)
        tag = outer
    }

    /// Passes a number.
    mutating func number(_ value: inout Int64) throws(StateError) {
        if isReading {
            let word = try readWord()
            switch word.kind {
            case .number: value = Int64(word.number)
            case .largeNumber: value = try eightBytes()
            default: throw StateError("field \(word.tag) is not a number")
            }
        } else if value >= 0, value < 1 << Word.numberBits {
            append(Word(tag, .number, UInt64(value)))
        } else {
            append(Word(tag, .largeNumber, 0))
            append(value)
        }
    }

    /// Passes the number of bytes or elements that follow. Each takes at least one byte of the
    /// file, so a wrong count can't ask for more memory than the file has.
    mutating func count(_ kind: Kind, _ count: inout Int) throws(StateError) {
        var number = UInt64(count)
        try word(kind, &number)
        count = Int(number)
        guard case .reading(let bytes, let position) = way else { return }
        guard count <= (bytes.count - position) / (kind == .list ? 8 : 1) else { throw StateError.truncated }
    }

    /// Passes a list of plain numbers as it is in memory. Any bytes are a valid list.
    mutating func memory<Number: BitwiseCopyable>(_ values: inout [Number]) throws(StateError) {
        let stride = MemoryLayout<Number>.stride
        var count = values.count * stride
        try self.count(.bytes, &count)
        switch way {
        case .writing:
            values.withUnsafeBytes { gathered += $0 }
            if gathered.count >= Self.piece { try writeGathered() }
        case .reading(let bytes, let position):
            guard count.isMultiple(of: stride) else { throw StateError("a list ends within a number") }
            // Swift would write the count to its shared empty array, which all threads use.
            guard count > 0 else {
                values = []
                return
            }
            values = [Number](unsafeUninitializedCapacity: count / stride) { memory, initialized in
                UnsafeMutableRawBufferPointer(memory).copyMemory(
                    from: .init(rebasing: bytes[position..<position + count]))
                initialized = count / stride
            }
            way = .reading(bytes, position + count)
        }
    }

    /// Passes waiting bytes. When many are read, they stay in their file, and are valid as long as
    /// the state's `mapped` lives.
    mutating func waiting(_ value: inout WaitingBytes) throws(StateError) {
        let isLarge = isReading ? try peek().kind == .waiting : value.count >= Self.fewBytes
        guard isLarge else {
            var few = isReading ? [] : value.array
            try memory(&few)
            if isReading { value = .array(few) }
            return
        }
        var count = UInt64(value.count)
        try word(.waiting, &count)
        if isReading {
            value = .pieces([try queues.bytes(from: Int(try eightBytes()), Int(count))])
        } else {
            append(Int64(try queues.append(value)))
        }
    }

    /// Skips a field of any kind.
    private mutating func passOver(_ depth: Int = 0) throws(StateError) {
        guard depth < Self.mostDeep else { throw StateError("the state's fields are nested too deep") }
        let word = try readWord()
        switch word.kind {
        case .end, .number: break
        case .largeNumber, .waiting: try advance(8)
        case .bytes: try advance(Int(word.number))
        case .part:
            while try peek().kind != .end { try passOver(depth + 1) }
            // The `end` of the part.
            try advance(8)
        case .list: for _ in 0..<word.number { try passOver(depth + 1) }
        }
    }

    // MARK: words

    /// Passes a word of one kind.
    private mutating func word(_ kind: Kind, _ number: inout UInt64) throws(StateError) {
        guard isReading else {
            append(Word(tag, kind, number))
            if gathered.count >= Self.piece { try writeGathered() }
            return
        }
        let word = try readWord()
        guard word.kind == kind else { throw StateError("field \(word.tag) is \(word.kind), not \(kind)") }
        number = word.number
    }

    private mutating func append(_ word: Word) { append(Int64(bitPattern: word.bits)) }

    private mutating func append(_ number: Int64) { withUnsafeBytes(of: number) { gathered += $0 } }

    private func peek() throws(StateError) -> Word {
        guard case .reading(let bytes, let position) = way, bytes.count - position >= 8 else { throw .truncated }
        guard let word = Word(bits: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)) else {
            throw StateError("the state has a field of an unknown kind")
        }
        return word
    }

    private mutating func readWord() throws(StateError) -> Word {
        let word = try peek()
        try advance(8)
        return word
    }

    private mutating func eightBytes() throws(StateError) -> Int64 {
        guard case .reading(let bytes, let position) = way, bytes.count - position >= 8 else { throw .truncated }
        way = .reading(bytes, position + 8)
        return bytes.loadUnaligned(fromByteOffset: position, as: Int64.self)
    }

    private mutating func advance(_ count: Int) throws(StateError) {
        guard case .reading(let bytes, let position) = way, bytes.count - position >= count else { throw .truncated }
        way = .reading(bytes, position + count)
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

/// The reason why a state could not be handed over or taken over.
struct StateError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }

    static let truncated = StateError("the state's file ends before the state does")
}
