internal import Strata

/// The typed interface of `Press`, which answers at once.
enum PressContract: Interface {
    static let name = "Press"

    struct Press: Action {
        static let name = action("press")
        var number: UInt64
        var title = "a sheet"
        struct Reply: Codable, Sendable { var number: UInt64 }
    }
}

/// The same interface as other modules require it. An adapter provides it.
enum NotePress: Interface {
    static let name = "NotePress"

    struct Stamp: Action {
        static let name = action("stamp")
        var stampNumber: UInt64
        var title = "a note"
        struct Reply: Codable, Sendable { var stamped: UInt64 }
    }
}

/// The typed interface of `Mill`, whose handler waits a little.
enum MillContract: Interface {
    static let name = "Mill"

    struct Grind: Action {
        static let name = action("grind")
        var number: UInt64
        var grains = [1, 2, 3]
        struct Reply: Codable, Sendable { var number: UInt64 }
    }
}

/// The interface of `Store`, which writes to a disk that may be full.
enum StoreContract: Interface {
    static let name = "Store"

    struct Put: Action {
        static let name = action("put")
        var number: UInt64
        var text = String(repeating: "s", count: 200)
        struct Reply: Codable, Sendable { var number: UInt64 }
    }
}
