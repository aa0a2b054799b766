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
        self.init(frame.kind, to: frame.to, name: frame.name, frame.object, url: frame.url)
    }

    init(_ frame: ProbeFrame) {
        self.init(
            frame.kind, to: frame.kind == "open" ? frame.header["url"]?.string ?? "" : frame.to,
            name: frame.header["name"]?.string ?? "", frame.header["object"]?.string)
    }

    private init(_ kind: String, to: String, name: String, _ object: String?, url: String? = nil) {
        self.kind = url == nil ? kind : "open"
        self.to = kind == "broadcast" ? "" : url ?? (kind == "call" ? Self.owned(to) : to)
        // Of the calls only an emit has one that says what is asked.
        self.name = kind == "call" && to != "bus/emit" ? "" : name
        self.object = object
    }

    /// The params of an open are in its URL.
    var comparesBody: Bool { kind != "open" }

    var description: String {
        Printable.line([kind, to, name, object ?? ""].filter { !$0.isEmpty }.joined(separator: " "))
    }

    /// Returns an action as its owner sees it: without the suffix `Router` of its interface.
    private static func owned(_ to: String) -> String {
        let interface = to.prefix { $0 != "/" && $0 != "#" }
        return Name.withoutRouterSuffix(String(interface)) + to[interface.endIndex...]
    }
}
