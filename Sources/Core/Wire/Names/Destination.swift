/// A call's `to`, split: `Interface/action` or `Interface#INSTANCE/action`.
///
/// Holds ranges into the bytes it was parsed from, counted from their start;
/// the caller keeps those bytes (unescaped, where JSON had escapes in them).
public struct Destination: Sendable, Equatable {
    /// The interface's name, its suffix `Router` taken off.
    public let interface: Range<Int>
    /// The instance's digits, without the `#`, where one is named.
    ///
    /// They may be no instance's: `Name.instanceNumber` tells.
    public let instance: Range<Int>?
    /// The action's name.
    public let action: Range<Int>

    /// Splits a `to`. Nil where it is malformed: no slash, an interface or an
    /// action that breaks the rules for names, an instance that isn't digits.
    ///
    /// A reserved interface is no fault here: `bus/hello` is a destination.
    public init?(_ to: UnsafeRawBufferPointer) {
        // Names hold neither mark, so the first ones are the only ones.
        guard let slash = to.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        var end = slash
        var instance: Range<Int>?
        if let mark = to[..<slash].firstIndex(of: UInt8(ascii: "#")) {
            guard mark + 1 < slash, to[(mark + 1)..<slash].allSatisfy(Name.isDigit) else {
                return nil
            }
            end = mark
            instance = (mark + 1)..<slash
        }
        let interface = Name.withoutRouterSuffix(UnsafeRawBufferPointer(rebasing: to[..<end]))
        let action = UnsafeRawBufferPointer(rebasing: to[(slash + 1)...])
        guard Name.isInterface(interface), Name.isAction(action) else { return nil }
        self.interface = 0..<interface.count
        self.instance = instance
        self.action = (slash + 1)..<to.count
    }

    /// Splits a string's UTF-8 in the same way.
    public init?(_ to: String) {
        var to = to
        guard let parsed = to.withUTF8({ Destination(UnsafeRawBufferPointer($0)) }) else {
            return nil
        }
        self = parsed
    }
}
