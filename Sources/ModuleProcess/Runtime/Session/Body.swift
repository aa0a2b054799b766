internal import StrataCore

/// A body on its way out, whoever made its bytes.
enum Body: Sendable {
    case none
    case bytes([UInt8])

    /// Null needs no bytes.
    init(_ json: JSON) { self = json == .null ? .none : .bytes(json.encoded()) }

    func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch self {
        case .none: return try body(.none)
        case .bytes(let bytes):
            return try bytes.withUnsafeBytes { raw in
                Swift.Result { () throws(Failure) in try body(raw) }
            }.get()
        }
    }
}
