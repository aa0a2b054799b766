import StrataCore

/// What a session has, or would have, of what is limited by number and by its texts' bytes.
struct Holdings {
    let interfaces: Int
    /// What each costs in bytes.
    let urls: [Int]
    let observations: [Int]
    var events: [Int] = []

    /// - Parameters:
    ///   - whose: how the message begins, such as `hello brings`.
    ///   - may: how it says who is limited.
    ///   - advice: how it ends.
    func checkCounts(_ limits: AppTable.Limits, _ whose: String, _ may: String, _ advice: String = "") throws(BusError)
    {
        let quotas = [
            ("interfaces", interfaces, limits.interfaces), ("URLs", urls.count, limits.urls),
            ("observations", observations.count, limits.observations),
        ]
        for (what, count, limit) in quotas {
            try require(
                count <= limit, .overloaded,
                "\(whose) \(count) \(what), and \(may) \(limit) (limits.\(what.lowercased()))\(advice)")
        }
    }

    func checkTexts(_ limits: AppTable.Limits, _ whose: String) throws(BusError) {
        try Texts.check(whose, "URLs", urls.reduce(0, +), Texts.most(limits.urls))
        try Texts.check(whose, "observations", observations.reduce(0, +), Texts.most(limits.observations))
        try Texts.check(whose, "events", events.reduce(0, +), Texts.most(0))
    }
}
