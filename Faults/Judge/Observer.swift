internal import FaultRecord

/// One observation of one process in one of its sessions, as its notices arrive.
struct Observer {
    /// The newest number of each publication.
    var last: [UInt64: UInt64] = [:]
    /// The publication of the newest notice.
    var previous: UInt64?
    /// The number of missed notices that were reported, and that no gap has used up yet.
    var missed: UInt64 = 0

    /// The name of an observation, and its traits.
    struct Key: Hashable {
        var news: UInt8
        var traits: NoticeTraits

        init(_ record: Record) {
            news = record.kind
            traits = record.traits.subtracting(.retained)
        }

        init(news: UInt8, traits: NoticeTraits) {
            self.news = news
            self.traits = traits
        }

        var isPattern: Bool { traits.contains(.pattern) }
        var keepsLatest: Bool { traits.contains(.latest) }

        /// Returns all observations of a role that each of its processes has for itself.
        static func all(of role: Role) -> [Key] {
            role.keepsAll.map { Key(news: Role.newsIndex($0), traits: []) }
                + role.keepsLatest.map { Key(news: Role.newsIndex($0), traits: .latest) }
                + (role.observesAll ? Role.publishers(below: role.rank) : []).map {
                    Key(news: Role.newsIndex($0.name), traits: .pattern)
                }
        }

        var text: String {
            let name = news == Role.adapterIndex ? Role.adaptedNews : Role.all[Int(news)].news
            let how = traits.contains(.shared) ? ", shared" : traits.contains(.pattern) ? ", by a pattern" : ""
            return "\(name) (keep \(keepsLatest ? "latest" : "all")\(how))"
        }
    }
}
