/// One value or member's name in the bytes. Entries are in the order of the
/// bytes: an object is followed by its members' names and values in turn, an
/// array by its elements.
struct TapeEntry {
    enum Kind: UInt8 { case null, no, yes, number, string, array, object }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// Of a string: there are escapes in it.
        static let escaped = Flags(rawValue: 1)
        /// Of a number: there is a fraction or an exponent.
        static let fraction = Flags(rawValue: 2)
        /// Of an object: a table of its names was made.
        static let tabled = Flags(rawValue: 4)
    }

    /// Of a text, between its quotes, and of a number the first byte. Of an
    /// object the name that is probably asked for next; of an array the first
    /// element. While the container is being scanned, the one around it.
    var start: UInt32
    /// Behind the last byte; of a container the number of elements or members.
    var end: UInt32
    /// The entry behind this value and all in it.
    var next: UInt32
    var kind: Kind
    var flags: Flags = []
}
