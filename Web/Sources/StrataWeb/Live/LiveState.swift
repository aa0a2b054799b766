import StrataOperator

/// What all tabs of the page show: the app, its modules, the traffic and the last frames. A value
/// without I/O.
///
/// Each part has the version of its last change. A tab keeps how far it has read (``Reading``), so a
/// slow tab gets fewer and larger steps, and costs no queue.
struct LiveState {
    /// The bytes of each kind of event at a time. Together they are what a tab that doesn't read costs.
    static let roomForModules = 48 << 10
    static let roomForEdges = 64 << 10
    static let roomForFrames = 64 << 10

    private var version: UInt64 = 1
    private var app: (text: [UInt8], version: UInt64) = ([], 0)
    private var totals: (text: [UInt8], version: UInt64) = ([], 0)
    private var modules = VersionedTable()
    private var edges = VersionedTable()
    /// The number of times that the bus began to count anew.
    private var counting: UInt64 = 0
    private var tape = FrameTape()

    /// How far a tab has read.
    struct Reading {
        fileprivate var app: UInt64 = 0
        fileprivate var totals: UInt64 = 0
        fileprivate var modules = VersionedTable.Reading()
        fileprivate var edges = VersionedTable.Reading()
        fileprivate var counting: UInt64 = 0
        fileprivate var frame: UInt64?
        fileprivate var left: UInt64 = 0
        init() {}
    }

    // MARK: Changes

    mutating func setApp(_ facts: JSON) {
        let text = facts.encoded()
        guard text != app.text else { return }
        version += 1
        app = (text, version)
    }

    mutating func setTotals(_ figures: JSON) {
        version += 1
        totals = (figures.encoded(), version)
    }

    mutating func setModule(_ name: String, _ facts: JSON) {
        if modules.set(name, facts.encoded(), version + 1) { version += 1 }
    }

    /// Removes the modules that the bus doesn't have any more.
    mutating func keepModules(_ names: Set<String>) {
        if modules.keep(version + 1, where: names.contains) { version += 1 }
    }

    mutating func setEdge(_ key: String, _ facts: JSON) {
        if edges.set(key, facts.encoded(), version + 1) { version += 1 }
    }

    /// Forgets all edges, because the bus counts anew.
    mutating func forgetEdges() {
        edges = VersionedTable()
        counting += 1
    }

    mutating func add(frame: [JSON.Member], leftOut: UInt64) {
        tape.leaveOut(leftOut)
        tape.add(frame)
    }

    mutating func leaveOut(_ count: UInt64) { tape.leaveOut(count) }

    // MARK: Reading

    /// Returns the events that a tab lacks, as server-sent events; empty if there are none.
    func events(_ reading: inout Reading) -> [UInt8] {
        var text: [UInt8] = []
        if app.version > reading.app {
            reading.app = app.version
            Self.add("app", app.text, to: &text)
        }
        addModules(&reading, to: &text)
        if totals.version > reading.totals {
            reading.totals = totals.version
            Self.add("totals", totals.text, to: &text)
        }
        addEdges(&reading, to: &text)
        addFrames(&reading, to: &text)
        return text
    }

    private func addModules(_ reading: inout Reading, to text: inout [UInt8]) {
        let changes = modules.changes(since: &reading.modules, version: version, room: Self.roomForModules)
        guard !changes.isEmpty else { return }
        let gone = JSON.array(changes.removed.map { .string($0) }).encoded()
        let list = Self.list("modules", changes.texts) + Array(",\"gone\":".utf8) + gone
        Self.add("modules", list + Self.end(changes.isAnew), to: &text)
    }

    private func addEdges(_ reading: inout Reading, to text: inout [UInt8]) {
        let isAnew = reading.counting != counting
        if isAnew { (reading.counting, reading.edges) = (counting, VersionedTable.Reading()) }
        let changes = edges.changes(since: &reading.edges, version: version, room: Self.roomForEdges)
        guard !changes.isEmpty || isAnew else { return }
        Self.add("edges", Self.list("edges", changes.texts) + Self.end(isAnew), to: &text)
    }

    private func addFrames(_ reading: inout Reading, to text: inout [UInt8]) {
        // A new tab begins with what comes from now on.
        guard let number = reading.frame else {
            (reading.frame, reading.left) = (tape.next, tape.left)
            return
        }
        let (frames, skipped) = tape.frames(from: number, room: Self.roomForFrames)
        let left = tape.left - reading.left + skipped
        guard !frames.isEmpty || left > 0 else { return }
        (reading.frame, reading.left) = (tape.next, tape.left)
        Self.add("frames", Self.list("frames", frames) + Array(",\"left\":\(left)}".utf8), to: &text)
    }

    /// Returns `{"NAME":[…]` without the closing brace.
    private static func list(_ name: String, _ texts: [[UInt8]]) -> [UInt8] {
        Array("{\"\(name)\":[".utf8) + Array(texts.joined(separator: [0x2C])) + [0x5D]
    }

    /// Returns the end of an object that may replace all that the tab has.
    private static func end(_ isAnew: Bool) -> [UInt8] { Array((isAnew ? ",\"all\":true}" : "}").utf8) }

    private static func add(_ name: String, _ data: [UInt8], to text: inout [UInt8]) {
        text += "event: \(name)\ndata: ".utf8
        text += data
        text += "\n\n".utf8
    }
}
