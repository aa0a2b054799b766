import StrataOperator

/// The endless streams of a bus that feed the page. One that the bus refuses or ends is asked for again,
/// and the page is told why it is missing.
final class BusStreams {
    private struct Wanted {
        let to: String
        let params: JSON?
        let onPartial: (JSON) -> Void
    }

    private let client: BusClient
    private var wanted: [Wanted] = []
    private var open: [String: (number: UInt64, id: UInt64)] = [:]
    private var lastNumber: UInt64 = 0
    private var problems: [String: String] = [:]

    init(_ client: BusClient) { self.client = client }

    /// Why streams are missing, for people; nil if none is.
    var problem: String? {
        problems.isEmpty
            ? nil : problems.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
    }

    func add(_ to: String, _ params: JSON? = nil, onPartial: @escaping (JSON) -> Void) {
        wanted.append(Wanted(to: to, params: params, onPartial: onPartial))
    }

    /// Opens the streams that aren't open.
    func begin() {
        for stream in wanted where open[stream.to] == nil { begin(stream) }
    }

    private func begin(_ stream: Wanted) {
        var request = Request(to: stream.to, stream.params, deadline: 0)
        request.isEndless = true
        request.credit = 1_024
        request.onPartial = { [unowned self] body in
            problems[stream.to] = nil
            if let json = try? JSON(parsing: body) { stream.onPartial(json) }
        }
        lastNumber += 1
        let number = lastNumber
        open[stream.to] = (number, 0)
        let id = client.send(request) { [unowned self] answer in
            // The end of a cancelled stream may come after the next one has begun.
            guard open[stream.to]?.number == number else { return }
            open[stream.to] = nil
            if case .failure(let error) = answer, client.isConnected { problems[stream.to] = error.message }
        }
        // The answer may have come at once.
        open[stream.to]?.id = id
    }

    /// Ends all streams.
    /// - Parameter cancelling: whether there is a connection over which they must be cancelled.
    func end(cancelling: Bool) {
        if cancelling { for stream in open.values { client.cancel(stream.id) } }
        (open, problems) = ([:], [:])
    }
}
