internal import StrataCore

extension BusError {
    /// The longest message that is sent, in bytes: a header has an end.
    private static let longestMessage = 4096

    /// What a caller is told of a handler's error.
    /// - Parameter handler: which it was; empty for a step of the life cycle, which the
    ///   broker names.
    init(answering error: any Error, of handler: String) {
        let who = handler.isEmpty ? "it" : handler
        switch error {
        case let error as ModuleError:
            self.init(error.code, error.message, ran: error.ran, body: error.body)
        case let error as BusError where error.code.rawValue.contains("."):
            // Another module's own error, which this one lets through.
            self.init(error.code, error.message, ran: .yes, body: error.body)
        case let error as BusError where error.code == .cancelled:
            self.init(.cancelled, error.message, ran: .yes)
        case let error as BusError:
            self.init(.failed, "\(who) failed in a request of its own: \(error)", ran: .yes)
        case let error as DecodingError:
            self.init(.failed, "\(who) read something that isn't as expected: \(error.sentence())", ran: .yes)
        case is CancellationError:
            self.init(.cancelled, "\(who) was cancelled", ran: .yes)
        default:
            self.init(.failed, handler.isEmpty ? "\(error)" : "\(handler) failed: \(error)", ran: .yes)
        }
        if message.utf8.count > Self.longestMessage {
            message = String(decoding: message.utf8.prefix(Self.longestMessage), as: UTF8.self) + " …"
        }
    }
}
