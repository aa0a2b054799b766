internal import StrataCore

/// The header of an outgoing frame, with the members that its kind needs.
struct Outgoing: Sendable {
    var kind: Header.Kind
    /// `Interface/action` or a module's name; for an open, the URL.
    var to = ""
    /// What a notice or an event is called.
    var name: String?
    /// The deadline in milliseconds; nil for the bus's default.
    var deadline: UInt64?
    var skipsAuthorizer = false
    /// Apart, because a request is copied a few times on its way: with them it would take 500 instructions
    /// more.
    @Seldom var extras: Extras

    /// The members that few frames have.
    struct Extras: Emptiable, Sendable {
        var object: String?
        var credit: UInt64?
        /// A JSON object; empty if there is none.
        var meta: [UInt8] = []
        /// What the broker chooses a replica by; nil for none.
        var key: String?
        /// Whether the broker keeps a broadcast for later observers.
        var retains = false
        /// The trace as JSON; nil for the trace of the handler that makes the request.
        var trace: [UInt8]?
        /// The descriptors that go with the frame.
        var descriptors: [Descriptor] = []
        /// The instance that the request goes to, which must not have ended.
        var lease: InstanceLease?
    }

    /// Creates the header of a request.
    @inline(__always)
    init(_ kind: Header.Kind, to: String, deadline: Duration?, auth: Authorization = .asked) {
        self.kind = kind
        self.to = to
        self.deadline = deadline?.wireMilliseconds
        skipsAuthorizer = auth == .skip
    }

    /// Creates the header of a notice.
    init(
        _ kind: Header.Kind, to: String = "", name: String, object: String? = nil, deadline: Duration? = nil,
        retains: Bool = false
    ) {
        self.init(kind, to: to, deadline: deadline)
        self.name = name
        if object != nil { extras.object = object }
        if retains { extras.retains = true }
    }

    /// Whether a large body may go in a memory file: the bus reads its own actions' bodies, and observers
    /// of broadcasts get them in frames.
    var mayHaveFile: Bool {
        switch kind {
        case .call: !to.hasPrefix("bus/") && descriptors.isEmpty
        case .report: descriptors.isEmpty
        default: false
        }
    }

    var descriptors: [Descriptor] { $extras?.descriptors ?? [] }

    /// The request's name in messages.
    var what: String {
        switch kind {
        case .open: "open \(to)"
        case .broadcast: "broadcast \(name ?? "")"
        case .report: "report \(name ?? "") to \(to)"
        // Of the calls, only `bus/emit` has a name.
        default: name.map { "emit \($0)" } ?? to
        }
    }

    /// Returns the bytes to reserve for its texts and a trace.
    func room(trace: [UInt8]) -> Int {
        let bytes = (to.utf8.count + (name?.utf8.count ?? 0)) * 6 + 128 + trace.count
        guard let extras = $extras else { return bytes }
        return bytes + ((extras.object?.utf8.count ?? 0) + (extras.key?.utf8.count ?? 0)) * 6 + extras.meta.count
    }

    /// Checks the name and the size of the header.
    /// - Parameter limit: The most bytes that a header may have.
    /// - Throws: An error for a header over which the broker would end the connection.
    func check(trace: [UInt8], limit: UInt32) throws(BusError) {
        if let name, !(1...256).contains(name.utf8.count) {
            throw BusError(
                .badParams, "\(kind) has a name of \(name.utf8.count) bytes: a name has 1 to 256")
        }
        // That size assumes that each byte is escaped; most headers fit even so.
        guard room(trace: trace) > limit else { return }
        let texts = [to, name ?? "", extras.object ?? "", extras.key ?? ""].reduce(0) {
            $0 + JSON.string($1).encoded().count
        }
        let bytes = texts + extras.meta.count + trace.count + Self.overhead
        guard bytes <= limit else {
            throw BusError(
                .tooLarge,
                "the header of \(what.prefix(256)) would have \(bytes) bytes, and may have \(limit): send long "
                    + "values in the body, or raise limits.header in the manifest")
        }
    }

    /// The most bytes that a header has beside its texts.
    private static let overhead = 256

    /// Writes the members that follow `kind`.
    func write(_ writer: inout HeaderWriter, id: UInt64?, parent: UInt64?, trace: [UInt8]) {
        if let id { writer.integer("id", id) }
        switch kind {
        case .open: writer.string("url", to)
        case .broadcast: break
        default: writer.string("to", to)
        }
        if let name { writer.string("name", name) }
        let extras = $extras
        if let object = extras?.object { writer.string("object", object) }
        if let deadline { writer.integer("deadline", deadline) }
        if let parent { writer.integer("parent", parent) }
        if let credit = extras?.credit { writer.integer("credit", credit) }
        if let key = extras?.key { writer.string("key", key) }
        if extras?.retains == true { writer.boolean("retain", true) }
        if skipsAuthorizer { writer.string("auth", "skip" as StaticString) }
        trace.withUnsafeBytes { if !$0.isEmpty { writer.raw("trace", $0) } }
        extras?.meta.withUnsafeBytes { if !$0.isEmpty { writer.raw("meta", $0) } }
    }
}

extension Outgoing {
    static func call(_ to: String, deadline: Duration? = nil, auth: Authorization = .asked) -> Outgoing {
        Outgoing(.call, to: to, deadline: deadline, auth: auth)
    }

    static func open(_ url: String, deadline: Duration? = nil) -> Outgoing {
        Outgoing(.open, to: url, deadline: deadline)
    }

    static func stream(_ to: String, deadline: Duration?, credit: Int, auth: Authorization) -> Outgoing {
        call(to, deadline: deadline, auth: auth).inParts(credit)
    }

    /// Returns the request, answered in parts and without a deadline of its own.
    /// - Parameter credit: How many partial replies may come before the first is taken, 1 or more.
    func inParts(_ credit: Int) -> Outgoing {
        precondition(credit >= 1, "\(what) has a credit of \(credit), and nothing would ever come: give 1 or more")
        var outgoing = self
        if outgoing.deadline == nil { outgoing.deadline = 0 }
        outgoing.extras.credit = UInt64(credit)
        return outgoing
    }

    /// Returns the header with the sender's `key` and `meta`. They are checked here because the broker
    /// ends a connection over a header that it can't accept.
    consuming func with(key: String? = nil, meta: JSON?) throws(BusError) -> Outgoing {
        if let key {
            guard (1...HeaderScanner.longestKey).contains(key.utf8.count) else {
                throw BusError(
                    .badParams,
                    "the key of \(what) has \(key.utf8.count) bytes: a key has 1 to \(HeaderScanner.longestKey)")
            }
            var outgoing = self
            outgoing.extras.key = key
            return try outgoing.with(meta: meta)
        }
        guard let meta else { return self }
        guard case .object = meta else {
            throw BusError(.badParams, "the meta of \(what) is \(meta), and must be an object")
        }
        let bytes = meta.encoded()
        guard bytes.count <= Self.mostMeta else {
            throw BusError(
                .tooLarge,
                "the meta of \(what) has \(bytes.count) bytes, and may have \(Self.mostMeta): send the rest in the "
                    + "parameters")
        }
        do { _ = try JSON(parsing: bytes, maximumDepth: Self.deepestMeta) } catch {
            throw BusError(.badParams, "the meta of \(what) can't be sent: \(error)")
        }
        var outgoing = self
        outgoing.extras.meta = bytes
        return outgoing
    }

    /// The limit in bytes.
    private static let mostMeta = 4_096
    /// A header may be 32 levels deep, and is one level itself.
    private static let deepestMeta = 31
}

extension Duration {
    /// The duration in whole milliseconds, as deadlines are sent: at least 1, at most 24 h.
    var wireMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds < 86_400 else { return 86_400_000 }
        return UInt64(max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    }
}

/// A request of this side that has no final answer yet.
struct OpenRequest {
    /// The recipient of an answer.
    enum Receiver {
        case once(UnsafeContinuation<[UInt8], any Error>)
        /// Called while the answer is read, before any later frame.
        case callback((Result<[UInt8], BusError>) -> Void)
        case stream(ReplyBuffer)
        /// No one waits for the answer any more, but the broker still holds the id.
        case nobody
    }

    var receiver: Receiver
    /// The position in the connection's outgoing bytes where the request's frame ends.
    var position: UInt64
    /// The request's name in messages.
    var what: String
}
