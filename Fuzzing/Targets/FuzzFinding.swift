/// What a target saw that must not be: the end of a sentence about its input.
public struct FuzzFinding: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Throws a finding where a condition doesn't hold.
func demand(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws(FuzzFinding) {
    guard condition else { throw FuzzFinding(otherwise()) }
}
