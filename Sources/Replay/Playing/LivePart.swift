import StrataConformance
import StrataCore

/// A recorded call to the module, as it goes in the replay.
struct LiveAsk {
    /// Whether it was sent, and not answered to the end.
    var isOpen = false
    var wasSent = false
    var answers: [RecordedLife.Answer] = []
    /// How many recorded answers have been waited for.
    var expected = 0
    /// Whether a difference was told already.
    var isTold = false
}

/// A recorded request of the module, as it goes in the replay.
struct LiveOwn {
    /// The module's number for it; nil until the module has sent it, and for a broadcast that wants no answer.
    var id: Int64?
    var wasSent = false
    /// How many partial replies the module still takes.
    var credit: Int64 = 0
}

/// What a request asks for: two are the same request if this is the same, whatever their bodies are.
struct Target: Hashable, CustomStringConvertible {
    private let kind: String
    private let to: String
    private let name: String
    private let object: String?

    init(_ frame: RecordedFrame) {
        let url = frame.url ?? (frame.kind == "open" ? frame.to : nil)
        kind = url == nil ? frame.kind : "open"
        to = frame.kind == "broadcast" ? "" : url ?? frame.to
        name = frame.kind == "call" ? "" : frame.name
        object = frame.object
    }

    init(_ frame: ProbeFrame) {
        kind = frame.kind
        to = kind == "open" ? frame.header["url"]?.string ?? "" : Self.owned(frame.to)
        name = kind == "call" ? "" : frame.header["name"]?.string ?? ""
        object = frame.header["object"]?.string
    }

    /// The params of an open are in its URL.
    var comparesBody: Bool { kind != "open" }

    var description: String {
        Printable.line([kind, to, name, object ?? ""].filter { !$0.isEmpty }.joined(separator: " "))
    }

    /// Returns an action as its owner sees it: without the suffix `Router` of its interface.
    private static func owned(_ to: String) -> String {
        let interface = to.prefix { $0 != "/" && $0 != "#" }
        guard interface.hasSuffix("Router"), interface.utf8.count > 6 else { return to }
        return String(interface.dropLast(6)) + to[interface.endIndex...]
    }
}
