/// Why the link can't start, or why it ends: a message for people that says what was found, and what to do.
struct LinkError: Error, Equatable, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
