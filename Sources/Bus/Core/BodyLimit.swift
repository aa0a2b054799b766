import StrataCore

/// The limits of a body that the bus itself reads. The bytes are compared before the body is read,
/// and the values are counted while it is read.
struct BodyLimit {
    let bytes: Int
    let values: Int

    /// For bodies that any peer may send. The slowest such body takes 2 ms to read.
    static let ordinary = BodyLimit(bytes: 64 << 10, values: 4_096)
    /// For the table that the launcher sends at a reload.
    static let table = BodyLimit(bytes: 4 << 20, values: 262_144)
    /// For a whole frame before hello is answered, in bytes.
    static let helloFrame: UInt32 = 64 << 10
    /// For all answers to one event together, in bytes.
    static let eventAnswers = 1 << 20

    /// Reads a body; an empty one is null.
    /// - Parameter owner: how messages name the body's owner.
    func read(_ body: UnsafeRawBufferPointer, of owner: String) throws(BusError) -> JSON {
        try require(
            body.count <= bytes, .tooLarge,
            "the body of \(owner) has \(body.count) bytes, and the broker reads \(bytes): send less at once")
        guard !body.isEmpty else { return .null }
        do { return try JSON(parsing: body, maximumValues: values) } catch {
            try require(
                !error.hasTooManyValues, .tooLarge,
                "the body of \(owner) has over \(values) JSON values, the most that the broker reads: send less at "
                    + "once")
            throw BusError(.badParams, "the body of \(owner) is not JSON: \(error)")
        }
    }

    /// Does the same for a body in an array.
    func read(_ body: [UInt8], of owner: String) throws(BusError) -> JSON {
        try body.withBytes { bytes throws(BusError) in try read(bytes, of: owner) }
    }
}

extension BusCore {
    /// The limits of a frame before hello is answered, when the broker doesn't yet know who sends
    /// it.
    var helloLimits: FrameLimits {
        FrameLimits(frame: min(frameLimits.frame, BodyLimit.helloFrame), header: frameLimits.header)
    }

    /// Returns the error that ends a connection whose bytes are no frame.
    func refusal(of error: FrameError, _ life: PeerLife) -> BusError {
        guard life == .greeting, case .frameTooLarge(let frame, let limit) = error, limit == BodyLimit.helloFrame
        else {
            return BusError(error.code, error.message)
        }
        return BusError(
            error.code,
            "a frame of \(frame) bytes was announced, and the limit is \(limit) until hello is answered: send "
                + "\"more\": true in hello, and the rest with bus/register")
    }
}

/// Throws a refusal with this code and text unless a condition holds.
@inline(__always)
func require(
    _ holds: Bool, _ code: @autoclosure () -> ErrorCode, _ message: @autoclosure () -> String
) throws(BusError) {
    if !holds { throw refusal(code, message) }
}

/// Separate, so that the code of each check stays short.
@inline(never)
private func refusal(_ code: () -> ErrorCode, _ message: () -> String) -> BusError { BusError(code(), message()) }

/// Returns the hint of a refusal: the known names that the author of an unknown one may have meant.
func didYouMean(_ name: String, _ known: some Sequence<String>, else hint: @autoclosure () -> String) -> String {
    let near = nearestNames(to: name, in: known)
    return near.isEmpty ? hint() : "did you mean \(near.joined(separator: " or "))?"
}

extension [UInt8] {
    /// Does the same as `withUnsafeBytes`, but with a typed throw.
    func withBytes<Value>(
        _ use: (UnsafeRawBufferPointer) throws(BusError) -> Value
    ) throws(BusError) -> Value {
        try withUnsafeBytes { bytes in Result { () throws(BusError) in try use(bytes) } }.get()
    }
}
