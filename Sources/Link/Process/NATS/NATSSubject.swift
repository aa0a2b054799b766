internal import Glibc

/// A subject of NATS, in C's form: `strata.‹app›.‹to›.‹from›.‹c, d or n›`.
struct NATSSubject {
    /// What a message holds.
    enum Kind: String {
        case control = "c"
        case pieces = "d"
        /// Only the server answers here: nobody listens.
        case noResponders = "n"
    }

    let text: [CChar]

    init(app: String, to: String, from: String, _ kind: Kind) {
        text = Array("strata.\(app).\(to).\(from).\(kind.rawValue)".utf8CString)
    }

    /// The subject of a subscription to all that a node sends to another one.
    static func all(app: String, to: String, from: String) -> String { "strata.\(app).\(to).\(from).>" }

    /// Whether a received message's subject is one of pieces. Anything else counts as control.
    static func isOfPieces(_ subject: UnsafePointer<CChar>?) -> Bool {
        guard let subject else { return false }
        let length = strlen(subject)
        return length > 2 && subject[length - 2] == CChar(UInt8(ascii: "."))
            && subject[length - 1] == CChar(UInt8(ascii: "d"))
    }
}
