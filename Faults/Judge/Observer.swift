internal import FaultRecord

/// One observation of one process in one of its sessions, as its notices arrive.
struct Observer {
    /// The newest number of each publication.
    var last: [UInt64: UInt64] = [:]
    /// The publication of the newest notice.
    var previous: UInt64?
    /// The number of missed notices that were reported, and that no gap has used up yet.
    var missed: UInt64 = 0

    /// The name of an observation, and how it keeps notices.
    struct Key: Hashable {
        var news: UInt8
        var keepsLatest: Bool

        init(_ record: Record) {
            news = record.kind
            keepsLatest = record.ran == 1
        }

        init(news: UInt8, keepsLatest: Bool) {
            self.news = news
            self.keepsLatest = keepsLatest
        }

        /// Returns all observations of a role.
        static func all(of role: Role) -> [Key] {
            role.keepsAll.map { Key(news: Role.newsIndex($0), keepsLatest: false) }
                + role.keepsLatest.map { Key(news: Role.newsIndex($0), keepsLatest: true) }
        }

        var text: String {
            let name = news == Role.adapterIndex ? Role.adaptedNews : Role.all[Int(news)].news
            return "\(name) (keep \(keepsLatest ? "latest" : "all"))"
        }
    }
}
