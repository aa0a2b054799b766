/// Why a JSON value is no app's table.
public struct AppTableError: Error, Equatable, CustomStringConvertible {
    /// Where in the table, such as `modules[2].level`.
    public var path: String
    /// What was expected there, and what was found.
    public var message: String

    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }

    public var description: String { path.isEmpty ? message : "\(path): \(message)" }
}
