import StrataCore

/// A frame that the bus lets pass or refuses, while it is in hand. Made only
/// where somebody monitors; all its bytes are somebody else's, and are gone when
/// the frame is handled. What is kept of it is a `FrameNote`.
struct MonitoredFrame: ~Copyable {
    let kind: Header.Kind
    /// The bus's number of a call, which its answers have too; 0 for none.
    var id: UInt64 = 0
    /// A module's name, `operator`, `launcher` or `bus`.
    let from: Header.Text
    /// The same, or `Interface/action`, or the URL of a refused `open`; empty
    /// on a broadcast.
    let to: Header.Text
    /// Who gets it, where neither `callee` nor `to` says that.
    var receiver: Header.Text?
    /// The module that serves a call, where one is known: `to` names its interface.
    var callee: Header.Text?
    var name: Header.Text?
    var code: Header.Text?
    /// Of a call that an `open` became.
    var url: Header.Text?
    /// The kind as it was written, where it is none of the known ones.
    var unknownKind: Header.Text?
    let body: Header.Text

    /// Who gets it: what `module` is compared with.
    @inline(__always) var target: Header.Text { receiver ?? callee ?? to }

    /// What the bus calls itself.
    static var bus: Header.Text {
        let name: StaticString = "bus"
        return Header.Text(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }
}
