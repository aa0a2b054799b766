import StrataCore

/// What one broker asks another one for: the retained broadcasts of some names and patterns, for observations that have
/// begun. The answer is notices, and then the ask's number.
struct RetainedAsk: Equatable {
    /// The most asks of one node that aren't answered.
    static let most = 1_024
    /// The most names and patterns of one ask: the observed one, and those to which adapters give it.
    static let mostNames = 256

    /// The asker's number, which the notices have as their `id`.
    var number: UInt64 = 0
    /// The names of the broadcasts, and patterns of them.
    var observed: [ObservedName] = []
    /// The object that the broadcasts must have; nil for any.
    var object: [UInt8]?
    /// The latest rank of the observers.
    var rank = 0
    /// The answerer's number of the first notice that is asked for.
    var from: UInt64 = 1
    /// The answerer's number of the first notice that isn't asked for; nil for its next one.
    var before: UInt64?

    /// Whether it asks for broadcasts of this name and object.
    func takes(_ name: [UInt8], _ object: [UInt8]?) -> Bool {
        (self.object == nil || self.object == object)
            && observed.contains { observed in name.withUnsafeBytes { observed.matches($0) } }
    }
}

extension RetainedAsk {
    /// - Parameter json: an element of `asks` in a node's frame.
    init(_ json: JSON) throws(BusError) {
        let reader = MemberReader(json, of: "a node's ask for retained broadcasts")
        func count(_ name: String) throws(BusError) -> UInt64? {
            guard let value = try reader.integer(name) else { return nil }
            try require(value >= 0, .badParams, "\"\(name)\" of a node's ask is \(value), and must not be negative")
            return UInt64(value)
        }
        guard let number = try count("ask"), let rank = try count("rank") else {
            throw BusError(.badParams, "a node's ask for retained broadcasts lacks \"ask\" or \"rank\"")
        }
        (self.number, self.rank) = (number, Int(clamping: rank))
        observed =
            try reader.strings("names").map { ObservedName(text: Array($0.utf8)) }
            + reader.strings("patterns").map { ObservedName(text: Array($0.utf8), isPattern: true) }
        try require(
            observed.count <= Self.mostNames && observed.allSatisfy(\.isUsable), .badParams,
            "a node asks for names that nobody may observe, or for over \(Self.mostNames)")
        object = try reader.string("object").map { Array($0.utf8) }
        from = try count("from") ?? 1
        before = try count("before")
    }

    var json: JSON {
        var members: [JSON.Member] = [.init("ask", JSON(number)), .init("rank", JSON(rank))]
        for (member, isPattern) in [("names", false), ("patterns", true)] {
            let texts = observed.filter { $0.isPattern == isPattern }.map { JSON.string(Request.Bytes.text($0.text)) }
            if !texts.isEmpty { members.append(.init(member, .array(texts))) }
        }
        if let object { members.append(.init("object", .string(Request.Bytes.text(object)))) }
        if from > 1 { members.append(.init("from", JSON(from))) }
        if let before { members.append(.init("before", JSON(before))) }
        return .object(members)
    }
}

/// The members of a retained notice between two brokers that other notices don't have.
struct RetainedPlace {
    /// The answerer's number of the notice.
    let number: UInt64
    /// Where the ask's answer ends, by these numbers.
    let before: UInt64
    /// Whether this notice is the last one until the ask goes on.
    let isLast: Bool

    /// - Returns: nil if the header lacks them.
    init?(_ header: UnsafeRawBufferPointer) {
        guard let json = try? JSON(parsing: header), let number = json["number"]?.integer, number >= 0,
            let before = json["before"]?.integer, before >= 0
        else { return nil }
        (self.number, self.before) = (UInt64(number), UInt64(before))
        isLast = json["more"]?.bool == true
    }
}
