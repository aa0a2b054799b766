import StrataCore

/// How many bytes of names, patterns and objects the bus keeps for one module: what is
/// limited by number may have texts of many lengths.
enum Texts {
    /// Of what is limited to `count`, each may have 1 KiB on average; 1 MiB in any case.
    static func most(_ count: Int) -> Int { max(1 << 20, count << 10) }

    /// - Parameters:
    ///   - whose: who has them, as the message says it.
    ///   - what: what they belong to.
    static func check(_ whose: String, _ what: String, _ bytes: Int, _ most: Int) throws(BusError) {
        try require(
            bytes <= most, .overloaded,
            "\(whose) \(what) whose texts have \(bytes) bytes, and those of one module may have \(most): choose shorter ones"
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
    /// The same as its mapping's.
    var cost: Int { host.utf8.count + pattern.text.utf8.count + interface.utf8.count + 1 + action.utf8.count }
}

extension Hello.URL {
    /// The same as its mapping's.
    var cost: Int { host.utf8.count + path.utf8.count + interface.utf8.count + 1 + action.utf8.count }
}
