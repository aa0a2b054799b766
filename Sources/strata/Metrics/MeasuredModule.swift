import StrataCore

/// What a module answered when it was asked what it measures.
struct MeasuredModule {
    /// How long a module may take to tell, in milliseconds.
    static let patience: UInt64 = 1_000

    /// What is asked for.
    static let action = "bus/metrics"

    let name: String
    /// Its metrics; nil where it should have told them, and did not.
    let answer: JSON?

    /// - Returns: nil for a module that keeps none, and for one that has gone since.
    init?(_ name: String, _ answer: RequestChannel.Answer) {
        self.name = name
        switch answer {
        case .success(let body):
            let told = try? JSON(parsing: body)
            self.answer = told?["metrics"]?.array == nil ? Optional.none : told
        case .failure(let error):
            guard error.code != .unknownAction, error.code != .unavailable, error.code != .unknownModule else {
                return nil
            }
            self.answer = nil
        }
    }

    /// The modules of `bus/modules` that can be asked.
    static func names(in modules: [JSON]) -> [String] {
        modules.filter { $0["state"]?.string == "ready" }.compactMap { $0["name"]?.string }
    }

    static func params(_ name: String) -> JSON { ["module": .string(name)] }
}
