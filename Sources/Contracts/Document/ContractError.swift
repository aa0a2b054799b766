/// Why a document isn't a contract: the place, what was found there, and what to do.
public struct ContractError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Where in the document: `$.actions.search.params`. `$` is the document itself.
    public let path: String
    /// What was found, and what to do. It may quote the document, so a terminal gets it escaped.
    public let message: String

    init(_ path: ValuePath, _ message: String) {
        self.path = path.description
        self.message = message
    }

    public var description: String { "\(path): \(message)" }
}
