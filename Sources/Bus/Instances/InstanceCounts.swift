/// The instances that one peer has to do with.
struct InstanceCounts {
    /// Those that it has created and that live.
    private(set) var created = 0
    /// Those of its interfaces that other peers have created and that live.
    private(set) var owned = 0
    /// `module/released` calls that it has not answered.
    private(set) var openReleases = 0

    init() {}

    /// Goes on with another program's; the instances are added behind this.
    init(openReleases: Int) { self.openReleases = openReleases }

    mutating func addCreated(_ change: Int) { created += change }
    mutating func addOwned(_ change: Int) { owned += change }
    mutating func addReleases(_ change: Int) { openReleases += change }
}
