/// Reads a frame's header in one pass over its bytes, without making a `JSON` value of it. The
/// header is one JSON object, as strict as the protocol's sections 2 and 3 say.
///
/// One scanner serves a loop. Its results point into the frame or into the scanner's own memory,
/// and are valid until the next scan.
public final class HeaderScanner {
    static let maximumDepth = 32
    /// The most entries for which an emptied tape keeps its memory.
    static let keptValues: UInt32 = 512
    /// The largest integer on the wire, 2^53 - 1.
    public static let largestInteger: Int64 = 9_007_199_254_740_991
    /// The longest `meta`, in bytes.
    public static let longestMeta = 4096
    static let longestName = 256
    /// The longest `key`, in bytes.
    public static let longestKey = 64

    /// The memory into which strings with escapes are decoded.
    @exclusivity(unchecked)  // because every header uses it, on one thread
    var scratch: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked)  // the same
    var scratchCapacity: Int
    @exclusivity(unchecked)  // the same
    var scratchUsed = 0
    /// The members whose values are kept or skipped in JSON form.
    @exclusivity(unchecked)  // the same
    var tape = JSONTape()

    public init() {
        scratchCapacity = 16 << 10
        scratch = .allocate(capacity: scratchCapacity + ReadBuffer.slack)
    }

    deinit { scratch.deallocate() }

    /// Scans a header. `ReadBuffer.slack` bytes after it must be readable.
    @inline(__always)
    public func scan(_ bytes: UnsafeRawBufferPointer, into header: inout Header) throws(HeaderError) {
        if header.isPlain { header.clearPlain() } else { header = Header() }
        header.count = UInt32(truncatingIfNeeded: bytes.count)
        if scanPlain(bytes, into: &header) { return }
        header.clearPlain()
        header.isPlain = false
        try scanFully(bytes, into: &header)
    }

    /// Scans any header, into an empty one.
    @inline(never)
    package func scanFully(_ bytes: UnsafeRawBufferPointer, into header: inout Header) throws(HeaderError) {
        scratchUsed = 0
        if tape.count > 0 { tape.clear(keeping: Self.keptValues) }
        // Decoding never makes a string longer.
        if scratchCapacity < bytes.count {
            scratch.deallocate()
            scratchCapacity = bytes.count
            scratch = .allocate(capacity: scratchCapacity + ReadBuffer.slack)
        }
        do throws(JSONError) { try members(of: bytes, &header) } catch {
            throw HeaderError("can't be read: \(error.message)", at: error.offset)
        }
    }

    private func members(of bytes: UnsafeRawBufferPointer, _ header: inout Header) throws(JSONError) {
        var cursor = JSONCursor(bytes, hasSlack: true)
        cursor.skipSpace()
        guard cursor.take(UInt8(ascii: "{")) else { throw cursor.error("it is not a JSON object") }
        cursor.skipSpace()
        if !cursor.take(UInt8(ascii: "}")) {
            repeat {
                let start = cursor.pointer
                let key = try string(&cursor, orElse: "a name in quotes is missing")
                let quoted = Header.Text(start: start, count: cursor.pointer - start)
                try cursor.passColon()
                if try member(key, quoted, &cursor, &header) == false { _ = try value(of: key, quoted, &cursor) }
            } while try cursor.passComma(inObject: true)
        }
        try cursor.passEnd()
        if tape.count > 0 { try tape.refuseRepeatedNames(of: 0) }
        guard header.members.contains(.kind) else { throw JSONError(offset: 0, message: "\"kind\" is missing") }
    }

    /// Reads the value of a known member; returns false if the key is unknown.
    /// - Parameter quoted: the key in JSON form.
    @inline(__always)
    private func member(
        _ key: Header.Text, _ quoted: Header.Text, _ cursor: inout JSONCursor, _ header: inout Header
    ) throws(JSONError) -> Bool {
        // The scratch and the frame both have readable bytes after a key, so `pack` may load a
        // whole word.
        guard key.count <= 8 else { return try longMember(key, quoted, &cursor, &header) }
        switch PackedKey.pack(key) {
        case PackedKey.kind:
            try once(.kind, &header, key, quoted, cursor)
            let value = try string(&cursor, "kind")
            header.kind = Header.Kind(value)
            if header.kind == .unknown { header.unknownKind = value }
        case PackedKey.id:
            try once(.id, &header, key, quoted, cursor)
            let value = try integer(&cursor, "id", tooLarge: 0)
            header.id = value > 0 ? UInt64(value) : 0
        case PackedKey.to:
            try once(.to, &header, key, quoted, cursor)
            header.to = try string(&cursor, "to")
        case PackedKey.from:
            try once(.from, &header, key, quoted, cursor)
            header.from = try string(&cursor, "from")
        case PackedKey.level:
            try once(.level, &header, key, quoted, cursor)
            header.level = try string(&cursor, "level")
        case PackedKey.name:
            try once(.name, &header, key, quoted, cursor)
            header.name = try string(&cursor, "name")
            guard (1...Self.longestName).contains(header.name.count) else {
                throw cursor.error("\"name\" has \(header.name.count) bytes, and 1 to 256 are allowed")
            }
        case PackedKey.object:
            try once(.object, &header, key, quoted, cursor)
            header.object = try string(&cursor, "object")
        case PackedKey.via:
            try once(.via, &header, key, quoted, cursor)
            let value = try string(&cursor, "via")
            guard value.equals("broadcast") || value.equals("report") else {
                throw cursor.error("\"via\" is neither broadcast nor report")
            }
        case PackedKey.missed:
            try once(.missed, &header, key, quoted, cursor)
            header.missed = try integer(&cursor, "missed")
        case PackedKey.url:
            try once(.url, &header, key, quoted, cursor)
            header.url = try string(&cursor, "url")
        case PackedKey.deadline:
            try once(.deadline, &header, key, quoted, cursor)
            header.deadline = try integer(&cursor, "deadline")
        case PackedKey.parent:
            try once(.parent, &header, key, quoted, cursor)
            header.parent = try integer(&cursor, "parent")
        case PackedKey.more:
            try once(.more, &header, key, quoted, cursor)
            if try boolean(&cursor, "more") { header.flags.insert(.more) }
        case PackedKey.retain:
            try once(.retain, &header, key, quoted, cursor)
            if try boolean(&cursor, "retain") { header.flags.insert(.retain) }
        case PackedKey.retained:
            try once(.retained, &header, key, quoted, cursor)
            if try boolean(&cursor, "retained") { header.flags.insert(.retained) }
        case PackedKey.credit:
            try once(.credit, &header, key, quoted, cursor)
            let value = try integer(&cursor, "credit")
            guard value >= 0 else { throw cursor.error("\"credit\" is below 0") }
            header.credit = UInt64(value)
        case PackedKey.auth:
            try once(.auth, &header, key, quoted, cursor)
            guard try string(&cursor, "auth").equals("skip") else {
                throw cursor.error("\"auth\" isn't skip")
            }
        case PackedKey.code:
            try once(.code, &header, key, quoted, cursor)
            try notBoth(.key, .code, &header, cursor)
            header.codeOrKey = try string(&cursor, "code")
        case PackedKey.key:
            try once(.key, &header, key, quoted, cursor)
            try notBoth(.key, .code, &header, cursor)
            header.codeOrKey = try string(&cursor, "key")
            guard (1...Self.longestKey).contains(header.key.count) else {
                throw cursor.error("\"key\" has \(header.key.count) bytes, and 1 to \(Self.longestKey) are allowed")
            }
        case PackedKey.message:
            try once(.message, &header, key, quoted, cursor)
            header.message = try string(&cursor, "message")
        case PackedKey.ran:
            try once(.ran, &header, key, quoted, cursor)
            let value = try string(&cursor, "ran")
            if value.equals("no") {
                header.ran = .no
            } else if value.equals("maybe") {
                header.ran = .maybe
            } else if value.equals("yes") {
                header.ran = .yes
            } else {
                throw cursor.error("\"ran\" is not no, maybe or yes")
            }
        case PackedKey.trace:
            try once(.trace, &header, key, quoted, cursor)
            let start = cursor.pointer
            _ = try string(&cursor, "trace")
            header.trace = Header.Text(start: start, count: cursor.pointer - start)
        case PackedKey.meta:
            try once(.meta, &header, key, quoted, cursor)
            guard cursor.peek() == UInt8(ascii: "{") else {
                throw cursor.error("\"meta\" is not an object")
            }
            header.meta = try value(of: key, quoted, &cursor)
            guard header.meta.count <= Self.longestMeta else {
                throw cursor.error("\"meta\" has \(header.meta.count) bytes, and \(Self.longestMeta) are allowed")
            }
        case PackedKey.depth:
            try once(.depth, &header, key, quoted, cursor)
            let value = try integer(&cursor, "depth")
            guard value >= 1 else { throw cursor.error("\"depth\" is below 1") }
            header.depth = UInt32(clamping: value)
        case PackedKey.root:
            try once(.root, &header, key, quoted, cursor)
            try notBoth(.root, .node, &header, cursor)
            header.rootOrNode = try value(of: key, quoted, &cursor)
        case PackedKey.node:
            try once(.node, &header, key, quoted, cursor)
            try notBoth(.root, .node, &header, cursor)
            header.rootOrNode = try string(&cursor, "node")
        case PackedKey.memory:
            try once(.memory, &header, key, quoted, cursor)
            try notBoth(.descriptors, .memory, &header, cursor)
            let value = try integer(&cursor, "memory")
            guard value > 0 else {
                throw cursor.error("\"memory\" is \(value), and a length of 1 byte or more is allowed")
            }
            header.memory = value
        default:
            return false
        }
        return true
    }

    /// Reads the value of a known member whose key has more bytes than a word.
    private func longMember(
        _ key: Header.Text, _ quoted: Header.Text, _ cursor: inout JSONCursor, _ header: inout Header
    ) throws(JSONError) -> Bool {
        if key.equals("subscription") {
            try once(.subscription, &header, key, quoted, cursor)
            header.subscription = try integer(&cursor, "subscription")
        } else if key.equals("descriptors") {
            try once(.descriptors, &header, key, quoted, cursor)
            try notBoth(.descriptors, .memory, &header, cursor)
            let value = try integer(&cursor, "descriptors")
            guard (1...Int64(FrameDescriptors.most)).contains(value) else {
                throw cursor.error("\"descriptors\" is \(value), and 1 to \(FrameDescriptors.most) are allowed")
            }
            header.descriptors = UInt8(value)
        } else {
            return false
        }
        return true
    }

    @inline(__always)
    private func once(
        _ member: Header.Members, _ header: inout Header, _ key: Header.Text, _ quoted: Header.Text,
        _ cursor: JSONCursor
    ) throws(JSONError) {
        guard !header.members.contains(member) else {
            // because a key in JSON form has at least its quotes
            let start = quoted.baseAddress.unsafelyUnwrapped - UnsafeRawPointer(cursor.base)
            throw .repeated(key.text, at: start)
        }
        header.members.insert(member)
    }

    /// Refuses a header with both of two members that exclude each other.
    private func notBoth(
        _ one: Header.Members, _ other: Header.Members, _ header: inout Header, _ cursor: JSONCursor
    ) throws(JSONError) {
        guard !header.members.isSuperset(of: one.union(other)) else {
            let names =
                switch one {
                case .key: "\"key\" and \"code\""
                case .root: "\"root\" and \"node\""
                default: "\"descriptors\" and \"memory\""
                }
            throw cursor.error("\(names) are in one header")
        }
    }

    /// Returns a member's value in JSON form.
    private func value(
        of key: Header.Text, _ quoted: Header.Text, _ cursor: inout JSONCursor
    ) throws(JSONError) -> Header.Text {
        let start = cursor.pointer
        try tape.scanMember(
            named: quoted, isEscaped: key.count != quoted.count - 2, &cursor, maximumDepth: Self.maximumDepth)
        return Header.Text(start: start, count: cursor.pointer - start)
    }
}

/// A key of up to eight bytes as one word, so that one comparison suffices.
private enum PackedKey {
    @inline(__always)
    static func pack(_ key: Header.Text) -> UInt64 {
        guard let base = key.baseAddress, key.count > 0 else { return 0 }
        let word = UInt64(littleEndian: base.loadUnaligned(as: UInt64.self))
        return key.count == 8 ? word : word & ((1 << (UInt64(key.count) * 8)) - 1)
    }

    static let kind = 0x646e_696b as UInt64
    static let id = 0x6469 as UInt64
    static let to = 0x6f74 as UInt64
    static let from = 0x6d6f_7266 as UInt64
    static let level = 0x6c_6576_656c as UInt64
    static let name = 0x656d_616e as UInt64
    static let object = 0x7463_656a_626f as UInt64
    static let via = 0x6169_76 as UInt64
    static let missed = 0x6465_7373_696d as UInt64
    static let url = 0x6c72_75 as UInt64
    static let deadline = 0x656e_696c_6461_6564 as UInt64
    static let parent = 0x746e_6572_6170 as UInt64
    static let more = 0x6572_6f6d as UInt64
    static let credit = 0x7469_6465_7263 as UInt64
    static let auth = 0x6874_7561 as UInt64
    static let code = 0x6564_6f63 as UInt64
    static let message = 0x65_6761_7373_656d as UInt64
    static let ran = 0x6e61_72 as UInt64
    static let key = 0x79_656b as UInt64
    static let trace = 0x65_6361_7274 as UInt64
    static let meta = 0x6174_656d as UInt64
    static let root = 0x746f_6f72 as UInt64
    static let depth = 0x68_7470_6564 as UInt64
    static let retain = 0x6e69_6174_6572 as UInt64
    static let retained = 0x6465_6e69_6174_6572 as UInt64
    static let node = 0x6564_6f6e as UInt64
    static let memory = 0x7972_6f6d_656d as UInt64
}

extension Header.Kind {
    @inline(__always)
    init(_ text: Header.Text) {
        switch text.count {
        case 4: self = text.equals("call") ? .call : text.equals("open") ? .open : .unknown
        case 5: self = text.equals("reply") ? .reply : text.equals("error") ? .error : .unknown
        case 6:
            self =
                text.equals("cancel")
                ? .cancel
                : text.equals("credit")
                    ? .credit : text.equals("report") ? .report : text.equals("notice") ? .notice : .unknown
        case 9: self = text.equals("broadcast") ? .broadcast : .unknown
        default: self = .unknown
        }
    }
}
