internal import Synchronization

/// The known members of a frame's header. A text points into the frame's buffer, or into the
/// scanner's if it had escapes. Both are valid until the next frame is scanned.
public struct Header: ~Copyable {
    /// Has no meaning. But a type with an atomic has a fixed address, so a header is passed by its
    /// address. Without it the compiler copies the header once for each frame: some 30 instructions,
    /// a thirtieth of what a message costs the broker.
    private let address = Atomic<UInt8>(0)
    /// Which of the known members the header had.
    public var members: Members = []
    public var kind = Kind.unknown
    public var flags = Flags()
    public var ran = BusError.Ran.no
    /// The number of descriptors that came with the frame: 1 to 16, or 0 for none.
    public var descriptors: UInt8 = 0
    /// Whether only members of a plain header are set (see `HeaderScanner.scanPlain`), so that
    /// `clearPlain` is enough to reset this header.
    var isPlain = true
    /// The id; 0 if it was missing or out of range.
    public var id: UInt64 = 0
    public var deadline: Int64 = 0
    public var parent: Int64 = 0
    public var credit: UInt64 = 0
    /// The length of a body in a memory file that came with the frame, in bytes.
    public var memory: Int64 = 0
    public var subscription: Int64 = 0
    public var missed: Int64 = 0
    public var to = Text.none
    public var name = Text.none
    public var object = Text.none
    public var url = Text.none
    public var from = Text.none
    public var level = Text.none
    /// `code` or `key`, of which a header has one at most.
    var codeOrKey = Text.none
    public var message = Text.none
    /// The kind as it was written, if it isn't a known one.
    public var unknownKind = Text.none
    /// The trace in JSON form, with its quotes; it is forwarded unchanged.
    public var trace = Text.none
    /// The `meta` object in JSON form; it is forwarded unchanged.
    public var meta = Text.none

    /// `root` or `node`, of which a header has one at most.
    var rootOrNode = Text.none

    /// The length of the received header, in bytes.
    public var count: UInt32 = 0
    /// The depth of an open in the chain of its sender's app, `UInt32.max` if it is greater; believed
    /// from another app's broker alone.
    public var depth: UInt32 = 0

    public init() {}

    /// The header of a request that has waited, of which only the key is left.
    public init(key: Text) {
        if !key.isEmpty {
            members.insert(.key)
            codeOrKey = key
        }
    }

    /// An error's `root` in JSON form; a peer's is ignored.
    public var root: Text { members.contains(.root) ? rootOrNode : .none }
    /// An error's code.
    public var code: Text { members.contains(.key) ? .none : codeOrKey }
    /// The key of a request: requests with the same key go to the same replica.
    public var key: Text { members.contains(.key) ? codeOrKey : .none }
    /// Whether more partial replies follow.
    @inlinable public var more: Bool { flags.contains(.more) }
    /// The node that an operator's request is for, or from which a frame came.
    public var node: Text { members.contains(.node) ? rootOrNode : .none }

    /// Resets the members that a plain header can have.
    @inline(__always)
    mutating func clearPlain() {
        members = []
        id = 0
        deadline = 0
        credit = 0
        to = .none
        name = .none
    }

    /// The bytes of a string in UTF-8, with JSON's escapes decoded unless stated otherwise.
    public typealias Text = UnsafeRawBufferPointer

    public struct Members: OptionSet, Sendable {
        public let rawValue: UInt32
        @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
        @inlinable public static var kind: Members { Members(rawValue: 1 << 0) }
        @inlinable public static var id: Members { Members(rawValue: 1 << 1) }
        @inlinable public static var to: Members { Members(rawValue: 1 << 2) }
        @inlinable public static var from: Members { Members(rawValue: 1 << 3) }
        @inlinable public static var level: Members { Members(rawValue: 1 << 4) }
        @inlinable public static var name: Members { Members(rawValue: 1 << 5) }
        @inlinable public static var object: Members { Members(rawValue: 1 << 6) }
        @inlinable public static var via: Members { Members(rawValue: 1 << 7) }
        @inlinable public static var subscription: Members { Members(rawValue: 1 << 8) }
        @inlinable public static var missed: Members { Members(rawValue: 1 << 9) }
        @inlinable public static var url: Members { Members(rawValue: 1 << 10) }
        @inlinable public static var deadline: Members { Members(rawValue: 1 << 11) }
        @inlinable public static var parent: Members { Members(rawValue: 1 << 12) }
        @inlinable public static var more: Members { Members(rawValue: 1 << 13) }
        @inlinable public static var credit: Members { Members(rawValue: 1 << 14) }
        @inlinable public static var auth: Members { Members(rawValue: 1 << 15) }
        @inlinable public static var code: Members { Members(rawValue: 1 << 16) }
        @inlinable public static var message: Members { Members(rawValue: 1 << 17) }
        @inlinable public static var ran: Members { Members(rawValue: 1 << 18) }
        @inlinable public static var trace: Members { Members(rawValue: 1 << 19) }
        @inlinable public static var meta: Members { Members(rawValue: 1 << 20) }
        @inlinable public static var root: Members { Members(rawValue: 1 << 21) }
        @inlinable public static var depth: Members { Members(rawValue: 1 << 22) }
        @inlinable public static var node: Members { Members(rawValue: 1 << 23) }
        @inlinable public static var retain: Members { Members(rawValue: 1 << 24) }
        @inlinable public static var retained: Members { Members(rawValue: 1 << 25) }
        @inlinable public static var key: Members { Members(rawValue: 1 << 26) }
        @inlinable public static var descriptors: Members { Members(rawValue: 1 << 27) }
        @inlinable public static var memory: Members { Members(rawValue: 1 << 28) }
    }

    /// The members of type boolean that are true.
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt8
        @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }
        @inlinable public static var more: Flags { Flags(rawValue: 1 << 0) }
        /// Whether the bus is to keep a broadcast for later observers.
        @inlinable public static var retain: Flags { Flags(rawValue: 1 << 1) }
        /// Whether a notice was kept for its observer.
        @inlinable public static var retained: Flags { Flags(rawValue: 1 << 2) }
    }

    /// The kind of a frame.
    public enum Kind: UInt8, Sendable, CaseIterable {
        case unknown, call, open, reply, error, cancel, credit, broadcast, report, notice
    }
}

extension Header.Kind {
    /// The kind's name on the wire.
    public var name: StaticString {
        switch self {
        case .unknown: "unknown"
        case .call: "call"
        case .open: "open"
        case .reply: "reply"
        case .error: "error"
        case .cancel: "cancel"
        case .credit: "credit"
        case .broadcast: "broadcast"
        case .report: "report"
        case .notice: "notice"
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as a string; invalid UTF-8 is replaced.
    public var text: String { String(decoding: self, as: UTF8.self) }

    /// No bytes.
    @inlinable
    public static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    /// Whether these bytes equal the string's.
    @inlinable
    public func equals(_ string: StaticString) -> Bool {
        count == string.utf8CodeUnitCount
            && JSONString.equal(self, UnsafeRawBufferPointer(start: string.utf8Start, count: count))
    }
}

/// The error for bytes that aren't a header: `bad-header`.
public struct HeaderError: Error, Sendable, Equatable {
    /// What is wrong, as the end of a sentence about the header.
    public var reason: String
    /// Where it was found, in bytes from the header's start.
    public var offset: Int

    public init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var message: String {
        "the header \(reason) (byte \(offset)): send one JSON object with the members of the protocol's section 3"
    }
}
