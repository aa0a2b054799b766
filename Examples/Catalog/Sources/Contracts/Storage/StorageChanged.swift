public import Strata

/// What Storage keeps is no longer what it was.
public struct StorageChanged: Broadcast {
    public static let name = "storage.changed"

    public enum Part: String, Codable, Sendable {
        case packages, notes
    }

    public var part: Part
    /// How much there is now.
    public var counts: Storage.Counts.Reply
    /// How many packages are gone.
    public var removed: Int

    public init(_ part: Part, _ counts: Storage.Counts.Reply, removed: Int = 0) {
        self.part = part
        self.counts = counts
        self.removed = removed
    }
}
