package import StrataCore

/// The most descriptors that an action takes with a call, and gives with its reply: 0 to 16 each.
public struct DescriptorCounts: Sendable, Hashable, CustomStringConvertible {
    /// What an action has that says nothing else.
    public static let none = Self()
    /// The most of either.
    static let most = FrameDescriptors.most

    public let params: Int
    public let reply: Int

    public init(params: Int = 0, reply: Int = 0) {
        precondition(
            (0...Self.most).contains(params) && (0...Self.most).contains(reply),
            "an action has \(params) and \(reply) descriptors: 0 to \(Self.most) each")
        self.params = params
        self.reply = reply
    }

    /// The counts in words: `at most 1 with a call and 2 with the reply`.
    public var description: String {
        let words = [(params, "a call"), (reply, "the reply")].filter { $0.0 > 0 }.map { "\($0) with \($1)" }
        return words.isEmpty ? "none" : "at most \(words.joined(separator: " and "))"
    }

    /// The counts as hello and contracts have them; nil if there are none. A count of 0 is left out.
    package var json: JSON? {
        let members = [("params", params), ("reply", reply)].filter { $0.1 > 0 }
        return members.isEmpty ? nil : .object(members.map { JSON.Member($0.0, .integer(Int64($0.1))) })
    }
}
