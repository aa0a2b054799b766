import StrataOperator

/// `launcher/logs`: what modules wrote, as a stream.
extension Launcher {
    /// Bytes on their way to the broker beyond which no further lines are sent.
    private static let mostUnsent = 256 << 10

    func logs(_ call: BusClient.Incoming) {
        do throws(BusError) {
            let request = try LogRequest(call.body)
            for module in (request.modules ?? []).sorted() where supervisor(module) == nil { throw unknown(module) }
            try logs.open(call.id, credit: call.credit, request)
            sendLines()
        } catch {
            link.client.fail(call.id, error)
        }
    }

    func wrote(_ line: OutputLine, _ module: String) {
        console.line(of: module, line.bytes)
        logs.add(line, of: module)
        sendLines()
    }

    func readerGot(_ credit: UInt64, for id: UInt64) {
        logs.received(credit, for: id)
        sendLines()
    }

    /// Sends each reader what it takes; called when a line, a credit or a second came.
    func sendLines() { logs.send(most: link.mostBody, while: { link.client.unsent < Self.mostUnsent }, send) }

    /// The app ends: readers get what they take of the last lines, and are told why there
    /// will be no more.
    func endReaders(_ ending: Ending) {
        sendLines()
        logs.end("the app ends: \(ending.message)", send)
        link.client.flush()
    }

    private func send(_ reply: LogStreams.Reply) {
        switch reply {
        case .line(let id, let body): link.client.replyPartially(id, body)
        case .end(let id, let body): link.client.reply(id, body)
        }
    }
}
