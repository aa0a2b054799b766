import StrataCore

/// What a session has, or would have, of the things that are limited in number and in the bytes of
/// their texts.
struct Holdings {
    let interfaces: Int
    /// The cost of each in bytes, here and below.
    let urls: [Int]
    let observations: [Int]
    var events: [Int] = []

    /// - Parameters:
    ///   - whose: how the message begins, such as `hello has`.
    ///   - may: how the message names the limit's subject, such as `one module may have`.
    ///   - advice: how the message ends.
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

/// The limits on the bytes of names, patterns and objects that the bus keeps for one module. Limits
/// on their number don't bound their lengths.
enum Texts {
    /// Returns the most bytes for things of which there may be `count`: 1 KiB each on average, but
    /// at least 1 MiB in all.
    static func most(_ count: Int) -> Int { max(1 << 20, count << 10) }

    /// - Parameters:
    ///   - whose: who has the texts, as the message says it.
    ///   - what: what the texts belong to.
    static func check(_ whose: String, _ what: String, _ bytes: Int, _ most: Int) throws(BusError) {
        try require(
            bytes <= most, .overloaded,
            "\(whose) \(what) whose texts have \(bytes) bytes, and one module's may have \(most): choose shorter ones"
        )
    }
}

extension AppTable.Observed {
    /// The bytes of its name and object.
    var cost: Int { name.utf8.count + (object?.utf8.count ?? 0) }
}

extension AppTable.URLMapping {
    /// The bytes of its host, pattern and target.
    var cost: Int { host.utf8.count + path.utf8.count + to.utf8.count }
}

extension URLTarget {
    /// The same bytes as its mapping's.
    var cost: Int { host.utf8.count + pattern.text.utf8.count + interface.utf8.count + 1 + action.utf8.count }
}

extension Hello.URL {
    /// The same bytes as its mapping's.
    var cost: Int { host.utf8.count + path.utf8.count + interface.utf8.count + 1 + action.utf8.count }
}
