/// An error that answers a request, or that ends a connection.
public struct BusError: Error, Sendable, CustomStringConvertible {
    public var code: ErrorCode
    /// What was asked, what was found, and what to do.
    public var message: String
    /// Whether the handler ran, as far as is known.
    public var ran: Ran
    /// What a callee sent along; JSON, empty for none.
    public var body: [UInt8]

    public init(_ code: ErrorCode, _ message: String, ran: Ran = .no, body: [UInt8] = []) {
        self.code = code
        self.message = message
        self.ran = ran
        self.body = body
    }

    public var description: String { "\(code): \(message)" }

    /// The same with a message of at most so many bytes as a header has them: escapes are
    /// longer than what they stand for.
    public func shortened(to most: Int) -> BusError {
        guard message.utf8.count > most / 6 else { return self }
        var left = most
        for index in message.unicodeScalars.indices {
            let scalar = message.unicodeScalars[index]
            left -= scalar.value < 0x20 ? 6 : scalar == "\"" || scalar == "\\" ? 2 : UTF8.width(scalar)
            guard left < 0 else { continue }
            var shorter = self
            shorter.message = message[..<index] + "…"
            return shorter
        }
        return self
    }

    /// What is known of the handler of a request that failed.
    public enum Ran: String, Sendable {
        /// It never started: the request may be sent again.
        case no
        /// The request was delivered, and no answer came.
        case maybe
        /// The callee itself answered so.
        case yes
    }
}
