import StrataCore

/// One check: what must hold, and else the code and the text of the refusal.
@inline(__always)
func require(
    _ holds: Bool, _ code: @autoclosure () -> ErrorCode, _ message: @autoclosure () -> String
) throws(BusError) {
    if !holds { throw refusal(code, message) }
}

/// Apart, so that what is checked for each message stays short.
@inline(never)
private func refusal(_ code: () -> ErrorCode, _ message: () -> String) -> BusError { BusError(code(), message()) }

/// The hint of a refusal: the names that somebody may have meant who wrote an unknown one.
func didYouMean(_ name: String, _ known: some Sequence<String>, else hint: @autoclosure () -> String) -> String {
    let near = nearestNames(to: name, in: known)
    return near.isEmpty ? hint() : "did you mean \(near.joined(separator: " or "))?"
}

extension [UInt8] {
    /// `withUnsafeBytes`, which doesn't say what it throws.
    func withBytes<Value>(
        _ use: (UnsafeRawBufferPointer) throws(BusError) -> Value
    ) throws(BusError) -> Value {
        try withUnsafeBytes { bytes in Result { () throws(BusError) in try use(bytes) } }.get()
    }
}
