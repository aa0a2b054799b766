import StrataCore

/// What modules wrote last, and who reads it (`launcher/logs`). Nobody waits for a
/// reader: it is sent lines while it has credit. Lines that are dropped meanwhile are
/// counted to it as missed.
///
/// A value without I/O: what goes out is given to who sends it.
struct LogStreams {
    /// What a reader is sent.
    enum Reply: Equatable {
        case line(to: UInt64, [UInt8])
        case end(to: UInt64, [UInt8])
    }

    private var logs = OutputLogs()
    private var readers: [LogReader] = []

    mutating func add(_ line: OutputLine, of module: String) { logs.add(line, of: module) }

    /// Its row is gone.
    mutating func forget(_ module: String) {
        logs.forget(module)
        for index in readers.indices { readers[index].forget(module) }
    }

    // MARK: Readers

    mutating func open(_ id: UInt64, credit: UInt64, _ request: LogRequest) throws(BusError) {
        guard readers.count < LogReader.most else {
            throw BusError(
                .overloaded, "\(LogReader.most) read the modules' lines already (launcher/logs): end one of them")
        }
        readers.append(
            LogReader(
                id: id, credit: credit, modules: request.modules, lines: request.lines, follows: request.follows, logs))
    }

    mutating func received(_ credit: UInt64, for id: UInt64) {
        guard let index = readers.firstIndex(where: { $0.id == id }) else { return }
        readers[index].received(credit)
    }

    /// The reader gave up.
    mutating func drop(_ id: UInt64) { readers.removeAll { $0.id == id } }

    /// The bus is gone, and all readers with it.
    mutating func dropAll() { readers = [] }

    // MARK: Sending

    /// Sends each reader what it takes.
    /// - Parameters:
    ///   - most: bytes of a reply.
    ///   - hasRoom: whether another line may be on its way to the broker.
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

    /// Ends all readers, and tells them why there will be no more.
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
