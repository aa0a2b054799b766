public import StrataCore

/// What a module answered when it was asked what it measures.
public struct MeasuredModule: Sendable {
    /// The module's name.
    public let name: String
    /// Its metrics, as `module/metrics` of the protocol has them; nil where it should have
    /// told them, and did not.
    public let answer: JSON?

    /// - Returns: nil for a module that keeps none, and for one that has gone since.
    init?(_ name: String, _ answer: BusClient.Answer) {
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

    /// Asks a module, which has 1 s to tell.
    static func request(_ name: String) -> Request {
        Request(to: "bus/metrics", ["module": .string(name)], deadline: 1_000)
    }
}
