/// What stands in a frame's header, as far as the protocol knows it. Its bytes
/// are in the frame's buffer, or in the scanner's where they had escapes: both
/// until the next frame is scanned.
public struct Header: ~Copyable {
    /// Which members were there.
    public var members: Members = []
    public var kind = Kind.unknown
    /// 0 where it was missing or out of range.
    public var id: UInt64 = 0
    public var deadline: Int64 = 0
    public var parent: Int64 = 0
    public var credit: UInt64 = 0
    public var subscription: Int64 = 0
    public var missed: Int64 = 0
    public var more = false
    public var ran = BusError.Ran.no
    public var to = Text.none
    public var name = Text.none
    public var object = Text.none
    public var url = Text.none
    public var from = Text.none
    public var level = Text.none
    public var code = Text.none
    public var message = Text.none
    /// The kind as it was written, where it is none of the known ones.
    public var unknownKind = Text.none
    /// Still in JSON's form, with its quotes; forwarded as the same bytes.
    public var trace = Text.none
    /// Still in JSON's form; forwarded as the same bytes.
    public var meta = Text.none

    /// The header's bytes as they came.
    public var count = 0

    /// Nothing is set but what a plain header sets (`HeaderScanner.scanPlain`).
    var isPlain = true

    public init() {}

    /// Empties one that is plain.
    @inline(__always)
    mutating func clearPlain() {
        members = []
        id = 0
        deadline = 0
        credit = 0
        to = .none
        name = .none
    }

    /// A string's bytes: UTF-8, without JSON's escapes unless said otherwise.
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
    }

    /// What a frame is.
    public enum Kind: UInt8, Sendable, CaseIterable {
        case unknown, call, open, reply, error, cancel, credit, broadcast, report, notice
    }
}

extension Header.Kind {
    /// Its name on the wire.
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
    /// The bytes as a string; what isn't UTF-8 is replaced.
    public var text: String { String(decoding: self, as: UTF8.self) }

    /// No bytes.
    @inlinable
    public static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    /// Whether these are the string's bytes.
    @inlinable
    public func equals(_ string: StaticString) -> Bool {
        count == string.utf8CodeUnitCount
            && JSONString.equal(self, UnsafeRawBufferPointer(start: string.utf8Start, count: count))
    }
}

/// A header that is no header: `bad-header`.
public struct HeaderError: Error, Sendable, Equatable {
    /// What is wrong, as the end of a sentence about the header.
    public var reason: String
    /// Where, in bytes from the header's start.
    public var offset: Int

    public init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var message: String {
        "the header \(reason) (byte \(offset)): send one JSON object with the members of the protocol's section 3"
    }
}
