public import Testing

/// A mark on a test: which promises of docs/protocol.md and docs/manifest.md it shows.
///
/// `Tests/promises.txt` lists the promises with their numbers. `scripts/coverage` makes docs/coverage.md of the list and
/// the marks. The mark changes nothing about how the test runs.
public struct Promise: TestTrait {
    /// The numbers of the promises, such as `6.3`.
    public let numbers: [String]
}

extension Trait where Self == Promise {
    /// Marks a test as showing these promises.
    /// - Parameter numbers: numbers in `Tests/promises.txt`.
    public static func promise(_ numbers: String...) -> Self { Promise(numbers: numbers) }
}
