/// One thing that a review has found.
public struct Finding: Sendable, Equatable, CustomStringConvertible {
    /// What it means for the app.
    public enum Severity: String, Sendable {
        /// The bus would refuse it, or it can never work as it is declared.
        case error
        /// It works, and may not be what was meant.
        case advice
    }

    public var severity: Severity
    /// Where it is, and what was expected.
    public var problem: ManifestError

    public init(_ severity: Severity, _ problem: ManifestError) {
        self.severity = severity
        self.problem = problem
    }

    /// As an error is written, with `advice: ` before the message of one.
    public var description: String {
        guard severity == .advice else { return problem.description }
        var problem = problem
        problem.message = "advice: \(problem.message)"
        return problem.description
    }
}

extension [Finding] {
    /// In the order of the manifest's lines; what concerns no line comes first.
    public var inOrder: [Finding] {
        // Not every sort keeps the order of equals.
        func rank(_ at: (offset: Int, element: Finding)) -> (Int, Int, Int) {
            (at.element.problem.line ?? 0, at.element.problem.column ?? 0, at.offset)
        }
        return enumerated().sorted { rank($0) < rank($1) }.map(\.element)
    }
}
