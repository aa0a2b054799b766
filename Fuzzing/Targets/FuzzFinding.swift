/// What a target saw and must not see. The text is the end of a sentence about the input.
public struct FuzzFinding: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Throws a finding if a condition doesn't hold.
func demand(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws(FuzzFinding) {
    guard condition else { throw FuzzFinding(otherwise()) }
}
