import StrataCore

/// A frame that the broker let pass or refused, as monitors are told of it.
/// Made only where somebody monitors.
struct MonitoredFrame {
    let kind: String
    /// A module's name, `operator`, `launcher` or `bus`.
    let from: String
    /// The same, or `Interface/action`, or the URL of a refused `open`; empty
    /// on a broadcast.
    let to: String
    /// Who gets it, where `to` doesn't say that; what `module` is compared with.
    let target: String
    /// The module that serves a call, where one is known: `to` names its interface.
    let callee: String?
    /// The broker's number of a call, which its answers have too.
    let id: UInt64?
    var name: String?
    var code: String?
    /// Of a call that an `open` became.
    var url: String?
    /// Somebody else's bytes, which outlive this value.
    let body: UnsafeRawBufferPointer

    private let at = Loop.wallMicroseconds
    private var head: [UInt8]?
    private var isJSON: Bool?

    /// - Parameter target: nil where that is what `callee` or else `to` says.
    init(
        kind: String, id: UInt64? = nil, from: String, to: String, target: String? = nil, callee: String? = nil,
        name: String? = nil, code: String? = nil, url: String? = nil, body: UnsafeRawBufferPointer
    ) {
        self.kind = kind
        self.from = from
        self.to = to
        self.target = target ?? callee ?? to
        self.callee = callee
        self.id = id
        self.name = name
        self.code = code
        self.url = url
        self.body = body
    }

    /// Bodies that are deeper would make the partial reply deeper than the 64
    /// that readers of the bus's bodies take.
    private static let deepestBody = 63

    /// A partial reply's body.
    /// - Parameters:
    ///   - missed: how many frames the monitor didn't get before this one.
    ///   - room: what it may take. A body that doesn't fit is left out.
    mutating func encoded(missed: UInt64, withBody: Bool, room: Int) -> [UInt8] {
        let head = head ?? members()
        self.head = head
        var bytes = head
        if missed > 0 { bytes += ",\"missed\":\(missed)".utf8 }
        if withBody {
            if bytes.count + body.count + 32 > room {
                bytes += ",\"omitted\":\"size\"".utf8
            } else if body.isEmpty {
                bytes += ",\"body\":null".utf8
            } else if bodyIsJSON() {
                bytes += ",\"body\":".utf8
                bytes += body
            } else {
                bytes += ",\"omitted\":\"json\"".utf8
            }
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// What every monitor is told, without the closing brace.
    private func members() -> [UInt8] {
        var members: [JSON.Member] = [
            .init("at", .integer(Int64(at))), .init("kind", .string(kind)), .init("from", .string(from)),
            .init("to", .string(to)),
        ]
        if let callee { members.append(.init("callee", .string(callee))) }
        if let id { members.append(.init("id", .integer(Int64(id)))) }
        if let name { members.append(.init("name", .string(name))) }
        if let code { members.append(.init("code", .string(code))) }
        if let url { members.append(.init("url", .string(url))) }
        members.append(.init("bytes", .integer(Int64(body.count))))
        var bytes = JSON.object(members).encoded()
        bytes.removeLast()
        return bytes
    }

    private mutating func bodyIsJSON() -> Bool {
        if let isJSON { return isJSON }
        let answer = (try? JSON(parsing: body, maximumDepth: Self.deepestBody)) != nil
        isJSON = answer
        return answer
    }
}
