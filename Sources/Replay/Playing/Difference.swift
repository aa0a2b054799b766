public import StrataCore

/// Something that a module did otherwise than in the recording.
public struct Difference: Sendable {
    public enum Kind: String, Sendable {
        /// It answered a call otherwise.
        case answer
        /// It did not answer a call, or not all of it.
        case missingAnswer
        /// It sent a request with another body.
        case request
        /// It did not send a request.
        case missingRequest
        /// It sent a request that isn't in the recording.
        case newRequest
        /// Its process ended otherwise, or went on.
        case end
    }

    public let kind: Kind
    /// When it was recorded, in microseconds since 1970; 0 if it isn't in the recording.
    public let at: Int64
    /// The call, the request or the process that it is about.
    public let what: String
    /// The params of the call that was answered.
    public var params: JSON?
    public let recorded: String
    public let replayed: String

    /// The difference for programs.
    public var json: JSON {
        let params: [JSON.Member] = params.map { [.init("params", $0)] } ?? []
        return .object(
            [.init("difference", .string(kind.rawValue)), .init("at", .integer(at)), .init("what", .string(what))]
                + params
                + [.init("recorded", .string(recorded)), .init("replayed", .string(replayed))])
    }
}

extension RecordedLife.Answer {
    /// The answer in words.
    var shown: String {
        let body = body.map { $0 == .null ? "" : " \($0)" } ?? " (its body isn't in the recording)"
        return (code.isEmpty ? isPartial ? "partial reply" : "reply" : "error \(code)") + body
    }

    /// Whether the module answered so. A body that isn't in the recording isn't compared.
    func isSame(as other: Self, ignoring: Set<String>) -> Bool {
        guard code == other.code, isPartial == other.isPartial else { return false }
        guard let body, let other = other.body else { return true }
        return body.isSame(as: other, ignoring: ignoring)
    }
}
