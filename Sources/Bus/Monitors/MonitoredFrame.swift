import StrataCore

/// A frame that the bus lets pass or refuses, while it is in hand. Made only
/// where somebody monitors; all its bytes are somebody else's, and are gone when
/// the frame is handled. What is kept of it is a `FrameNote`.
struct MonitoredFrame: ~Copyable {
    let kind: Header.Kind
    /// A module's name, `operator`, `launcher` or `bus`.
    let from: Header.Text
    /// The same, or `Interface/action`, or the URL of a refused `open`; empty
    /// on a broadcast.
    let to: Header.Text
    /// Who gets it, where `to` doesn't say that; what `module` is compared with.
    let target: Header.Text
    /// The module that serves a call, where one is known: `to` names its interface.
    let callee: Header.Text?
    /// The bus's number of a call, which its answers have too; 0 for none.
    let id: UInt64
    let name: Header.Text?
    let code: Header.Text?
    /// Of a call that an `open` became.
    let url: Header.Text?
    /// The kind as it was written, where it is none of the known ones.
    let unknownKind: Header.Text?
    let body: Header.Text

    /// - Parameter target: nil where that is what `callee` or else `to` says.
    @inline(__always)
    init(
        _ kind: Header.Kind, id: UInt64 = 0, from: Header.Text, to: Header.Text, target: Header.Text? = nil,
        callee: Header.Text? = nil, name: Header.Text? = nil, code: Header.Text? = nil, url: Header.Text? = nil,
        unknownKind: Header.Text? = nil, body: Header.Text
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
        self.unknownKind = unknownKind
        self.body = body
    }

    /// What the bus calls itself.
    static var bus: Header.Text {
        let name: StaticString = "bus"
        return Header.Text(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }
}
