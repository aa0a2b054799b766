internal import Strata

/// What `Press` offers by types; answered at once.
enum PressContract: Interface {
    static let name = "Press"

    struct Press: Action {
        static let name = action("press")
        var number: UInt64
        var title = "a sheet"
        struct Reply: Codable, Sendable { var number: UInt64 }
    }
}

/// The same, as others require it: an adapter meets this.
enum NotePress: Interface {
    static let name = "NotePress"

    struct Stamp: Action {
        static let name = action("stamp")
        var stampNumber: UInt64
        var title = "a note"
        struct Reply: Codable, Sendable { var stamped: UInt64 }
    }
}

/// What `Mill` offers by types; its handler waits a little.
enum MillContract: Interface {
    static let name = "Mill"

    struct Grind: Action {
        static let name = action("grind")
        var number: UInt64
        var grains = [1, 2, 3]
        struct Reply: Codable, Sendable { var number: UInt64 }
    }
}

/// What `Store` offers: it writes to a disk that may be full.
enum StoreContract: Interface {
    static let name = "Store"

    struct Put: Action {
        static let name = action("put")
        var number: UInt64
        var text = String(repeating: "s", count: 200)
        struct Reply: Codable, Sendable { var number: UInt64 }
    }
}
