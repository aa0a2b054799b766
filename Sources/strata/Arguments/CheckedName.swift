/// The name of a notification or an event.
enum CheckedName {
    /// Judges it before it is sent: the bus ends a connection over a bad one.
    static func read(_ argument: String) throws(Failure) -> String {
        let count = argument.utf8.count
        guard (1...256).contains(count) else {
            throw Failure(.usage, "a name has 1 to 256 bytes, and this one \(count)")
        }
        return argument
    }
}
