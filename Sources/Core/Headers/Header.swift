/// What stands in a frame's header, as far as the protocol knows it. Its bytes
/// are in the frame's buffer, or in the scanner's where they had escapes: both
/// until the next frame is scanned.
public struct Header {
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

    public init() {}

    /// A string's bytes: UTF-8, without JSON's escapes unless said otherwise.
    public typealias Text = UnsafeRawBufferPointer

    public struct Members: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        public static let kind = Members(rawValue: 1 << 0)
        public static let id = Members(rawValue: 1 << 1)
        public static let to = Members(rawValue: 1 << 2)
        public static let from = Members(rawValue: 1 << 3)
        public static let level = Members(rawValue: 1 << 4)
        public static let name = Members(rawValue: 1 << 5)
        public static let object = Members(rawValue: 1 << 6)
        public static let via = Members(rawValue: 1 << 7)
        public static let subscription = Members(rawValue: 1 << 8)
        public static let missed = Members(rawValue: 1 << 9)
        public static let url = Members(rawValue: 1 << 10)
        public static let deadline = Members(rawValue: 1 << 11)
        public static let parent = Members(rawValue: 1 << 12)
        public static let more = Members(rawValue: 1 << 13)
        public static let credit = Members(rawValue: 1 << 14)
        public static let auth = Members(rawValue: 1 << 15)
        public static let code = Members(rawValue: 1 << 16)
        public static let message = Members(rawValue: 1 << 17)
        public static let ran = Members(rawValue: 1 << 18)
        public static let trace = Members(rawValue: 1 << 19)
        public static let meta = Members(rawValue: 1 << 20)
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
        guard count == string.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != string.utf8Start[index] { return false }
        return true
    }
}
