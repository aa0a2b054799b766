import StrataOperator
import Synchronization

/// The last lines of one module, for all tabs that look at it.
final class LogTail: Sendable {
    /// The most lines that are kept.
    static let most = 200

    struct Lines {
        var texts: [[UInt8]] = []
        /// The number of the next line.
        var next: UInt64 = 0
        var hasEnded = false
    }

    private let lines = Mutex(Lines())
    let module: String

    init(_ module: String) { self.module = module }

    func add(_ line: JSON) {
        // Only what the page shows of a line, and of a long one its beginning.
        let kept = (line.object ?? []).compactMap { member -> JSON.Member? in
            guard ["number", "at", "stream", "pid", "line", "cut", "missed"].contains(member.name) else { return nil }
            guard member.name == "line", let text = member.value.string, text.utf8.count > 4_096 else { return member }
            return .init("line", .string(String(text.prefix(1_024)) + "…"))
        }
        lines.withLock { lines in
            lines.texts.append(JSON.object(kept).encoded())
            lines.next += 1
            if lines.texts.count > Self.most { lines.texts.removeFirst(lines.texts.count - Self.most) }
        }
    }

    func end() { lines.withLock { $0.hasEnded = true } }

    /// Returns the lines from a number on, as one server-sent event; empty if there are none, nil if no
    /// more will come.
    func event(from number: inout UInt64) -> [UInt8]? {
        let (texts, next, hasEnded) = lines.withLock { lines in
            (
                Array(lines.texts.suffix(Int(min(lines.next - number, UInt64(lines.texts.count))))), lines.next,
                lines.hasEnded
            )
        }
        number = next
        guard !texts.isEmpty else { return hasEnded ? nil : [] }
        return Array("event: lines\ndata: {\"lines\":[".utf8) + Array(texts.joined(separator: [0x2C]))
            + Array("]}\n\n".utf8)
    }
}

/// The streams of lines that tabs look at: one for each module, however many tabs there are.
final class LogTails {
    /// The most modules whose lines are followed at a time. The launcher has 16 such streams for all
    /// operators.
    static let most = 8

    private struct Followed {
        var tail: LogTail
        var readers: Int
        var stream: UInt64
    }

    private let client: BusClient
    private var followed: [String: Followed] = [:]

    init(_ client: BusClient) { self.client = client }

    /// Follows a module's lines for one more tab.
    /// - Returns: nil if too many modules are followed.
    func open(_ module: String) -> LogTail? {
        if followed[module] != nil {
            followed[module]?.readers += 1
            return followed[module]?.tail
        }
        guard followed.count < Self.most else { return nil }
        let tail = LogTail(module)
        let params: JSON = [
            "modules": [.string(module)], "lines": .integer(Int64(LogTail.most)), "follow": true,
        ]
        var request = Request(to: "launcher/logs", params, deadline: 0)
        request.isEndless = true
        request.credit = 256
        request.onPartial = { body in
            if let line = try? JSON(parsing: body) { tail.add(line) }
        }
        followed[module] = Followed(tail: tail, readers: 1, stream: 0)
        let stream = client.send(request) { [unowned self] _ in
            tail.end()
            if followed[module]?.tail === tail { followed[module] = nil }
        }
        followed[module]?.stream = stream
        return tail
    }

    /// Ends the following of a tab; the last one ends the stream.
    func close(_ tail: LogTail) {
        guard let known = followed[tail.module], known.tail === tail else { return }
        if known.readers > 1 {
            followed[tail.module]?.readers -= 1
        } else {
            client.cancel(known.stream)
            followed[tail.module] = nil
        }
    }
}
