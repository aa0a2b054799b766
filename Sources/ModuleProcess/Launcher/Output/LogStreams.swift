import StrataCore

/// The last lines of the modules, and their readers (`launcher/logs`). Modules never wait for a
/// reader: it gets lines while it has credit, and a count of the lines that were dropped meanwhile.
///
/// A value without I/O: replies are passed to a closure that sends them.
struct LogStreams {
    /// A reply to a reader.
    enum Reply: Equatable {
        case line(to: UInt64, [UInt8])
        case end(to: UInt64, [UInt8])
    }

    private var logs = OutputLogs()
    private var readers: [LogReader] = []

    mutating func add(_ line: OutputLine, of module: String) { logs.add(line, of: module) }

    /// Forgets a module whose row was removed.
    mutating func forget(_ module: String) {
        logs.forget(module)
        for index in readers.indices { readers[index].forget(module) }
    }

    // MARK: Readers

    mutating func open(_ id: UInt64, credit: UInt64, _ request: LogRequest) throws(BusError) {
        guard readers.count < LogReader.most else {
            throw BusError(
                .overloaded,
                "\(LogReader.most) clients read the modules' lines already (launcher/logs): end one of them")
        }
        readers.append(
            LogReader(
                id: id, credit: credit, modules: request.modules, lines: request.lines, follows: request.follows, logs))
    }

    mutating func received(_ credit: UInt64, for id: UInt64) {
        guard let index = readers.firstIndex(where: { $0.id == id }) else { return }
        readers[index].received(credit)
    }

    /// Drops a reader that gave up.
    mutating func drop(_ id: UInt64) { readers.removeAll { $0.id == id } }

    /// Drops all readers, because the connection to the bus has ended.
    mutating func dropAll() { readers = [] }

    // MARK: Sending

    /// Sends each reader the lines that it accepts.
    /// - Parameters:
    ///   - most: The most bytes of a reply.
    ///   - hasRoom: Returns whether another line may be sent to the broker.
    mutating func send(most: Int, while hasRoom: () -> Bool, _ send: (Reply) -> Void) {
        guard !readers.isEmpty else { return }
        for index in readers.indices {
            while hasRoom(), let taken = readers[index].take(from: logs) {
                send(.line(to: readers[index].id, Self.body(taken, since: logs.since, most: most)))
            }
        }
        for reader in readers where reader.isDone(logs) { send(.end(to: reader.id, endBody(of: reader))) }
        readers.removeAll { $0.isDone(logs) }
    }

    /// Ends all readers, with the reason.
    mutating func end(_ reason: String, _ send: (Reply) -> Void) {
        for reader in readers { send(.end(to: reader.id, endBody(of: reader, reason))) }
        readers = []
    }

    private func endBody(of reader: LogReader, _ reason: String? = nil) -> [UInt8] {
        var members: [JSON.Member] = []
        if let reason { members.append(.init("ended", .string(reason))) }
        let missed = reader.missing(logs)
        if missed > 0 { members.append(.init("missed", .integer(Int64(clamping: missed)))) }
        return JSON.object(members).encoded()
    }

    /// Returns a partial reply. Text that doesn't fit into a frame is cut, and `cut` is set.
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
            if let severity = line.severity { members.append(.init("severity", .string(severity.name))) }
            if isCut { members.append(.init("cut", true)) }
            if taken.missed > 0 { members.append(.init("missed", .integer(Int64(clamping: taken.missed)))) }
            let bytes = JSON.object(members).encoded()
            if bytes.count <= most || text.isEmpty { return bytes }
            text = text.prefix(text.count / 2)
            isCut = true
        }
    }
}
