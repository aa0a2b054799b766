import StrataCore

/// The rules that hold for each frame of a client, whatever is tried. Knows what is open; does no I/O.
struct FrameRules {
    /// The limits that hello's answer named.
    var limits = FrameLimits(frame: 16 << 20, header: 16 << 10)
    /// The client's own requests that have no final answer yet.
    private var asked: Set<Int64> = []
    /// All numbers that the client has used for its requests.
    private var known: Set<Int64> = []
    private var served: [Int64: Served] = [:]
    private var hasSaidHello = false

    /// A request that the client got.
    private struct Served {
        var credit: Int64
        /// Whether the kit has taken it back; what comes for it then is dropped.
        var isCancelled = false
        var isAnswered = false
    }

    /// Notes a frame that the kit sends.
    mutating func sent(_ header: JSON) {
        guard let id = header["id"]?.integer else { return }
        switch header["kind"]?.string {
        case "call", "notice": served[id] = Served(credit: header["credit"]?.integer ?? 0)
        case "credit": served[id]?.credit += header["credit"]?.integer ?? 0
        case "cancel": served[id]?.isCancelled = true
        case "reply", "error": if header["more"]?.bool != true { asked.remove(id) }
        default: break
        }
    }

    /// Judges a frame of the client.
    mutating func received(_ frame: ProbeFrame) throws(Finding) {
        try judgeBytes(frame)
        if !hasSaidHello {
            guard frame.kind == "call", frame.to == "bus/hello" else {
                throw Finding("the first frame must be a call to bus/hello", in: .session)
            }
            hasSaidHello = true
        }
        switch frame.kind {
        case "call", "open", "report": try judgeRequest(frame)
        case "broadcast":
            try judgeName(frame)
            if frame.header["id"] != nil { try judgeRequest(frame) }
        case "reply", "error": try judgeAnswer(frame)
        case "cancel", "credit":
            guard known.contains(frame.id) else {
                throw Finding("a \(frame.kind) for the request \(frame.id), which the client hasn't made", in: .kinds)
            }
        default: throw Finding("a client can't send the kind \(frame.kind)", in: .kinds)
        }
    }

    private func judgeBytes(_ frame: ProbeFrame) throws(Finding) {
        let length = 4 + frame.headerBytes.count + frame.body.count
        guard length <= limits.frame else {
            throw Finding("a frame of \(length) bytes, and hello's answer allows \(limits.frame)", in: .frame)
        }
        guard frame.headerBytes.count <= limits.header else {
            throw Finding(
                "a header of \(frame.headerBytes.count) bytes, and hello's answer allows \(limits.header)", in: .frame)
        }
        // A real broker reads it in just this way.
        let fault = frame.headerBytes.withUnsafeBytes { bytes -> String? in
            let padded = UnsafeMutableRawBufferPointer.allocate(
                byteCount: bytes.count + ReadBuffer.slack, alignment: 16)
            defer { padded.deallocate() }
            padded.initializeMemory(as: UInt8.self, repeating: 0)
            padded.copyMemory(from: bytes)
            var header = Header()
            do throws(HeaderError) {
                let text = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(padded)[..<bytes.count])
                try HeaderScanner().scan(text, into: &header)
                return nil
            } catch { return error.message }
        }
        if let fault { throw Finding(fault, in: .header) }
        guard frame.body.isEmpty || (try? JSON(parsing: frame.body, maximumDepth: 512)) != nil else {
            throw Finding("the body isn't JSON", in: .frame)
        }
    }

    private func judgeName(_ frame: ProbeFrame) throws(Finding) {
        let name = frame.header["name"]?.string ?? ""
        guard (1...256).contains(name.utf8.count) else {
            throw Finding("a \(frame.kind) needs a name of 1 to 256 bytes", in: .header)
        }
    }

    private mutating func judgeRequest(_ frame: ProbeFrame) throws(Finding) {
        guard (1...HeaderScanner.largestInteger).contains(frame.id) else {
            throw Finding("a \(frame.kind) needs an id from 1 to 2^53 - 1", in: .header)
        }
        guard asked.insert(frame.id).inserted else {
            throw Finding("the id \(frame.id) is in use by an open request of the client", in: .header)
        }
        known.insert(frame.id)
        if frame.kind == "report" { try judgeName(frame) }
        if frame.kind == "open", (frame.header["url"]?.string ?? "").isEmpty {
            throw Finding("an open needs a url", in: .header)
        }
        if let parent = frame.header["parent"]?.integer, served[parent] == nil {
            throw Finding("the parent \(parent) is no call that the client got", in: .calls)
        }
    }

    private mutating func judgeAnswer(_ frame: ProbeFrame) throws(Finding) {
        guard var one = served[frame.id] else {
            throw Finding("a \(frame.kind) for \(frame.id), which the client wasn't asked", in: .kinds)
        }
        guard !one.isCancelled else { return }
        guard !one.isAnswered else {
            throw Finding("a second answer to \(frame.id): a request has exactly one final answer", in: .calls)
        }
        if frame.isPartial {
            guard one.credit > 0 else {
                throw Finding("a partial reply to \(frame.id) beyond its credit", in: .calls)
            }
            one.credit -= 1
        } else {
            one.isAnswered = true
        }
        served[frame.id] = one
    }
}
