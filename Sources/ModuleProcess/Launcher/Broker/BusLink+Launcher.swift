import StrataOperator

/// What the launcher says to the bus.
extension BusLink {
    /// A call to `bus/ACTION`; fails at once where there is no connection.
    func call(
        _ action: String, _ body: JSON = .object([]), deadline: UInt64? = nil,
        onAnswer: @escaping (BusClient.Answer) -> Void = { _ in }
    ) {
        send(Request(to: "bus/\(action)", body, deadline: deadline), onAnswer: onAnswer)
    }

    /// Emits an event; fails at once where there is no connection.
    /// - Parameter deadline: for each module's answer, in milliseconds.
    func emit(_ name: String, _ params: JSON, deadline: UInt64, onAnswer: @escaping (BusClient.Answer) -> Void) {
        var request = Request(to: "bus/emit", params, deadline: deadline)
        request.members = [("name", name)]
        send(request, onAnswer: onAnswer)
    }

    /// Asks for the stream of all modules' states, for as long as the connection
    /// stands.
    func watch(_ onState: @escaping ([UInt8]) -> Void) {
        var request = Request(to: "bus/watch", deadline: 0)
        request.credit = 64
        request.onPartial = onState
        send(request) { _ in }
    }

    /// So many bytes of an answer fit into a frame for certain, beside a header.
    var mostBody: Int { Int(client.limits.frame) - 4 - 256 }
}
