import StrataCore

/// A frame of a recording: a packet, as `bus/monitor` gave it.
struct RecordedFrame {
    let json: JSON

    /// The kind of the packet that a broker's frames begin with: it says which app this is.
    static let heading = "recording"

    var kind: String { text("kind") }
    var from: String { text("from") }
    /// `Interface/action` of a call, a module's name, or the URL of a refused open.
    var to: String { text("to") }
    /// The module that serves a call; empty if none is known.
    var callee: String { text("callee") }
    /// The broker's number of a call, which its answers have too; nil if there is none.
    var id: Int64? { json["id"]?.integer }
    var name: String { text("name") }
    var object: String? { json["object"]?.string }
    /// The URL of a call that an open became.
    var url: String? { json["url"]?.string }
    /// An error's code; on a request, why it was refused.
    var code: String { text("code") }
    /// Microseconds since 1970.
    var at: Int64 { Self.count(json["at"]) }
    var isPartial: Bool { json["more"]?.bool == true }
    var isReported: Bool { json["via"]?.string == "report" }
    /// How many frames were missed before this one.
    var missed: Int64 { Self.count(json["missed"]) }

    /// A number that a hostile file can't make overflow.
    private static func count(_ value: JSON?) -> Int64 { min(max(0, value?.integer ?? 0), 1 << 50) }

    /// The body, null if the frame has none; nil if it isn't in the recording, or came with
    /// descriptors, which no recording has.
    var body: JSON? {
        guard json["descriptors"] == nil else { return nil }
        if let body = json["body"] { return body }
        // Not nil, which would be JSON's null here.
        return json["bytes"]?.integer == 0 ? JSON.null : JSON?.none
    }

    private func text(_ member: String) -> String { json[member]?.string ?? "" }
}
