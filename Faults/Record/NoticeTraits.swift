/// How a process observes a name, and how a notice of it came, as one byte.
public struct NoticeTraits: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The observation has `keep: latest`.
    public static let latest = NoticeTraits(rawValue: 1)
    /// The observation is of a pattern.
    public static let pattern = NoticeTraits(rawValue: 2)
    /// The observation is one that the replicas of the row share.
    public static let shared = NoticeTraits(rawValue: 4)
    /// The notice says `retained`.
    public static let retained = NoticeTraits(rawValue: 8)
}
