import StrataCore

/// `launcher/logs`: what modules wrote, as a stream. Nobody waits for a reader: it has
/// lines for as long as it gives credit, and misses those that gave way meanwhile.
extension Launcher {
    /// Bytes on their way to the broker beyond which no further lines are sent.
    private static let mostUnsent = 256 << 10

    /// What a caller may say.
    private struct LogParams {
        var modules: Set<String>?
        var lines = UInt64(OutputLog.mostLines)
        var follows = false

        init(_ body: [UInt8]) throws(BusError) {
            guard !body.isEmpty else { return }
            guard let json = try? JSON(parsing: body), json.object != nil else { throw Self.problem }
            if let names = json["modules"] {
                guard let list = names.array else { throw Self.problem }
                let texts = list.compactMap(\.string)
                guard texts.count == list.count else { throw Self.problem }
                modules = Set(texts)
            }
            if let count = json["lines"] {
                guard let count = count.integer, count >= 0 else { throw Self.problem }
                lines = UInt64(count)
            }
            if let follow = json["follow"] {
                guard let follow = follow.bool else { throw Self.problem }
                follows = follow
            }
        }

        private static let problem = BusError(
            .badParams,
            "launcher/logs expects {\"modules\"?: [NAME…], \"lines\"?: 0 or more, \"follow\"?: true or false}")
    }

    func logs(_ call: RequestChannel.Incoming) {
        do throws(BusError) {
            let params = try LogParams(call.body)
            for module in (params.modules ?? []).sorted() where supervisor(module) == nil { throw unknown(module) }
            guard logReaders.count < LogReader.most else {
                throw BusError(
                    .overloaded, "\(LogReader.most) read the modules' lines already (launcher/logs): end one of them")
            }
            logReaders.append(
                LogReader(
                    id: call.id, credit: call.credit, modules: params.modules, lines: params.lines,
                    follows: params.follows, logs))
            sendLines()
        } catch {
            link.fail(call.id, error)
        }
    }

    func wrote(_ line: OutputLine, _ module: String) {
        console.line(of: module, line.bytes)
        logs.add(line, of: module)
        sendLines()
    }

    func readersGot(_ credit: UInt64, for id: UInt64) {
        guard let index = logReaders.firstIndex(where: { $0.id == id }) else { return }
        let (sum, overflow) = logReaders[index].credit.addingReportingOverflow(credit)
        logReaders[index].credit = overflow ? .max : sum
        sendLines()
    }

    func forgetLines(of module: String) {
        logs.forget(module)
        for index in logReaders.indices { logReaders[index].forget(module) }
    }

    /// Sends each reader what it takes; called when a line, a credit or a second came.
    func sendLines() {
        guard !logReaders.isEmpty else { return }
        for index in logReaders.indices { sendLines(to: &logReaders[index]) }
        for reader in logReaders where reader.isDone(logs) { link.reply(reader.id, Self.end(of: reader, logs)) }
        logReaders.removeAll { $0.isDone(logs) }
    }

    private func sendLines(to reader: inout LogReader) {
        while reader.credit > 0, link.unsent < Self.mostUnsent, let taken = reader.take(from: logs) {
            reader.credit -= 1
            link.replyPartially(reader.id, Self.body(taken, since: logs.since, most: link.mostBody))
        }
    }

    /// The app ends: readers get what they take of the last lines, and are told why there
    /// will be no more.
    func endReaders(_ ending: Ending) {
        sendLines()
        for reader in logReaders {
            link.reply(reader.id, Self.end(of: reader, logs, "the app ends: \(ending.message)"))
        }
        logReaders = []
        link.flush()
    }

    private static func end(of reader: LogReader, _ logs: OutputLogs, _ reason: String? = nil) -> [UInt8] {
        var members: [JSON.Member] = []
        if let reason { members.append(.init("ended", .string(reason))) }
        let missed = reader.missing(logs)
        if missed > 0 { members.append(.init("missed", .integer(Int64(clamping: missed)))) }
        return JSON.object(members).encoded()
    }

    /// A partial reply. Text that doesn't fit into a frame is cut, which `cut` says.
    private static func body(_ taken: LogReader.Taken, since: UInt64, most: Int) -> [UInt8] {
        let line = taken.line
        var text = String(decoding: line.bytes, as: UTF8.self).unicodeScalars[...]
        var isCut = false
        while true {
            var members: [JSON.Member] = [
                .init("module", .string(taken.module)), .init("at", .integer(Int64(clamping: line.at))),
                .init("stream", .string(line.stream.rawValue)), .init("pid", .integer(Int64(line.pid))),
                .init("start", .integer(Int64(line.start))), .init("since", .integer(Int64(clamping: since))),
                .init("number", .integer(Int64(clamping: taken.place))), .init("line", .string(String(text))),
            ]
            if isCut { members.append(.init("cut", true)) }
            if taken.missed > 0 { members.append(.init("missed", .integer(Int64(clamping: taken.missed)))) }
            let bytes = JSON.object(members).encoded()
            if bytes.count <= most || text.isEmpty { return bytes }
            text = text.prefix(text.count / 2)
            isCut = true
        }
    }
}
