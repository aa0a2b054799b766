import StrataCore

/// What a body that the bus itself reads may have. The bytes are compared before
/// it is read; the values are counted while it is.
struct BodyLimit {
    let bytes: Int
    let values: Int

    /// Of what any peer sends. The slowest such body takes 2 ms to read.
    static let ordinary = BodyLimit(bytes: 64 << 10, values: 4_096)
    /// Of the table that the launcher sends at a reload.
    static let table = BodyLimit(bytes: 4 << 20, values: 262_144)
    /// Of a whole frame, until hello is answered.
    static let helloFrame: UInt32 = 64 << 10
    /// The answers to one event, in bytes, all together.
    static let eventAnswers = 1 << 20

    /// Reads a body; one without bytes is null.
    /// - Parameter owner: how messages name it.
    func read(_ body: UnsafeRawBufferPointer, of owner: String) throws(BusError) -> JSON {
        try require(
            body.count <= bytes, .tooLarge,
            "the body of \(owner) has \(body.count) bytes, and the broker reads \(bytes): say less at once")
        guard !body.isEmpty else { return .null }
        do { return try JSON(parsing: body, maximumValues: values) } catch {
            try require(
                !error.hasTooManyValues, .tooLarge,
                "the body of \(owner) has over \(values) JSON values, and the broker reads so many: say less at once")
            throw BusError(.badParams, "the body of \(owner) is not JSON: \(error)")
        }
    }

    /// The same, of a body in an array.
    func read(_ body: [UInt8], of owner: String) throws(BusError) -> JSON {
        try body.withBytes { bytes throws(BusError) in try read(bytes, of: owner) }
    }
}

extension BusCore {
    /// The lengths that a frame may have before hello is answered: nobody knows yet
    /// who sends it.
    var helloLimits: FrameLimits {
        FrameLimits(frame: min(frameLimits.frame, BodyLimit.helloFrame), header: frameLimits.header)
    }

    /// What a connection is ended with for bytes that are no frame.
    func refusal(of error: FrameError, _ life: PeerLife) -> BusError {
        guard life == .greeting, case .frameTooLarge(let frame, let limit) = error, limit == BodyLimit.helloFrame
        else {
            return BusError(error.code, error.message)
        }
        return BusError(
            error.code,
            "a frame of \(frame) bytes was announced, and the limit is \(limit) until hello is answered: let hello say "
                + "\"more\": true, and say the rest with bus/register")
    }
}

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
