internal import FaultRecord

/// One observation of one process in one of its sessions, as its notices come in.
struct Observer {
    /// The newest number of each publication.
    var last: [UInt64: UInt64] = [:]
    /// The newest notice's publication.
    var previous: UInt64?
    /// What `missed` has told and no gap has used up.
    var missed: UInt64 = 0

    /// What a name is observed by.
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

        /// All that a role observes.
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
