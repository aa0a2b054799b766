import Strata

/// What typed calls carry: 64 bytes as JSON, as long as the untyped body.
struct Item: Codable, Sendable {
    var number = 123_456
    var title = "a note on a package"
    var isDone = false
}

enum Test: Interface {
    static let name = "Test"

    struct Store: Action {
        static let name = action("store")
        typealias Reply = Item
        var item = Item()
    }
}
