import StrataCore

/// What a caller of `launcher/logs` may say.
struct LogRequest {
    /// Nil for all.
    private(set) var modules: Set<String>?
    private(set) var lines = UInt64(OutputLog.mostLines)
    private(set) var follows = false

    init(_ body: [UInt8]) throws(BusError) {
        guard !body.isEmpty else { return }
        guard let json = try? JSON(parsing: body), json.object != nil else { throw Self.problem }
        if let names = json["modules"] {
            guard let list = names.array else { throw Self.problem }
            let texts = list.compactMap(\.string)
            guard texts.count == list.count else { throw Self.problem }
            modules = Set(texts)
        }
        if let count = json["lines"] {
            guard let count = count.integer, count >= 0 else { throw Self.problem }
            lines = UInt64(count)
        }
        if let follow = json["follow"] {
            guard let follow = follow.bool else { throw Self.problem }
            follows = follow
        }
    }

    private static let problem = BusError(
        .badParams,
        "launcher/logs expects {\"modules\"?: [NAME…], \"lines\"?: 0 or more, \"follow\"?: true or false}")
}
