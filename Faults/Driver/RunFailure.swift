/// The reason why a run can't continue, as a whole sentence.
struct RunFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
