/// The protocol's rules for names, over raw bytes and over strings.
///
/// Names are case-sensitive ASCII. Nothing here allocates, except for the functions that return a
/// string.
public enum Name {
    /// The longest name of a module, an interface or an action, in bytes.
    public static let longest = 64

    /// Whether this is a module's name: `[A-Za-z][A-Za-z0-9._-]{0,63}`.
    public static func isModule(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first, isLetter(first) else { return false }
        return isTail(bytes)
    }

    /// Whether this is an interface's name, by the same rule as a module's.
    ///
    /// Take the suffix `Router` off first: all rules apply to the rest.
    public static func isInterface(_ bytes: UnsafeRawBufferPointer) -> Bool {
        isModule(bytes)
    }

    /// Whether this is an action's name: `[A-Za-z_][A-Za-z0-9._-]{0,63}`.
    public static func isAction(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first, isLetter(first) || first == UInt8(ascii: "_") else {
            return false
        }
        return isTail(bytes)
    }

    /// Whether this is `bus`, `module`, `launcher` or `operator`. No module, and no interface
    /// without its suffix, may have such a name.
    public static func isReserved(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch bytes.count {
        case 3: bytes.elementsEqual("bus".utf8)
        case 6: bytes.elementsEqual("module".utf8)
        case 8: bytes.elementsEqual("launcher".utf8) || bytes.elementsEqual("operator".utf8)
        default: false
        }
    }

    /// Whether this is an app's name: 1 to 32 of `a-z`, `0-9` and `-`.
    public static func isApp(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether this is a node's name: like an app's, but a letter or digit comes first, and `all` is
    /// none.
    public static func isNode(_ name: String) -> Bool {
        isApp(name) && name.utf8.first != UInt8(ascii: "-") && name != AppTable.Placement.all
    }

    /// Whether this names an app's socket: the app, alone or with one of its nodes, as in
    /// `moments@berlin`.
    public static func isSocket(_ name: String) -> Bool {
        guard let mark = name.firstIndex(of: "@") else { return isApp(name) }
        return isApp(String(name[..<mark])) && isNode(String(name[name.index(after: mark)...]))
    }

    /// Returns the interface's name without one suffix `Router` in any case: `TestRouter` and
    /// `Test` are the same name. If nothing would be left, it returns the whole name.
    public static func withoutRouterSuffix(
        _ bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[..<lengthWithoutRouterSuffix(bytes)])
    }

    /// Returns the name under which an interface is sent to the bus, which removes one suffix
    /// `Router`. A name that ends in one therefore gets another.
    public static func said(_ interface: String) -> String {
        withoutRouterSuffix(interface) == interface ? interface : interface + "Router"
    }

    /// Returns the number of bytes that `withoutRouterSuffix` leaves.
    public static func lengthWithoutRouterSuffix(_ bytes: UnsafeRawBufferPointer) -> Int {
        let kept = bytes.count - 6
        // Most names have no such suffix, and don't end in r.
        guard kept > 0, bytes[kept + 5] | 0x20 == UInt8(ascii: "r"),
            bytes[kept] | 0x20 == UInt8(ascii: "r"),
            bytes[kept + 1] | 0x20 == UInt8(ascii: "o"),
            bytes[kept + 2] | 0x20 == UInt8(ascii: "u"),
            bytes[kept + 3] | 0x20 == UInt8(ascii: "t"),
            bytes[kept + 4] | 0x20 == UInt8(ascii: "e")
        else { return bytes.count }
        return kept
    }

    /// Returns the number of an instance as the broker writes it: digits without a leading zero, up
    /// to 2^53-1. Nil if no instance can have it.
    public static func instanceNumber(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard let first = bytes.first, first != UInt8(ascii: "0"), bytes.count <= 16 else {
            return nil
        }
        var number: UInt64 = 0
        for byte in bytes {
            guard isDigit(byte) else { return nil }
            number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return number < 1 << 53 ? number : nil
    }

    @inlinable
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    @inlinable
    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10
    }

    /// Whether the length is valid, and every byte may follow the first.
    private static func isTail(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= longest else { return false }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): continue
            default: guard isLetter(byte) || isDigit(byte) else { return false }
            }
        }
        return true
    }
}

extension Name {
    /// Like `isModule`, for a string's UTF-8.
    public static func isModule(_ name: String) -> Bool { inBytes(name, isModule) }

    /// Like `isInterface`, for a string's UTF-8.
    public static func isInterface(_ name: String) -> Bool { inBytes(name, isInterface) }

    /// Like `isAction`, for a string's UTF-8.
    public static func isAction(_ name: String) -> Bool { inBytes(name, isAction) }

    /// Like `isReserved`, for a string's UTF-8.
    public static func isReserved(_ name: String) -> Bool { inBytes(name, isReserved) }

    /// Like `withoutRouterSuffix` for bytes, as a new string.
    public static func withoutRouterSuffix(_ name: String) -> String {
        let length = inBytes(name, lengthWithoutRouterSuffix)
        // The suffix is ASCII, so the rest is whole characters.
        return length == name.utf8.count ? name : String(name.utf8.prefix(length)) ?? name
    }

    private static func inBytes<Result>(
        _ name: String, _ judge: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        var name = name
        return name.withUTF8 { judge(UnsafeRawBufferPointer($0)) }
    }
}

/// The events that the bus and the launcher emit themselves (the protocol's section 11). An app may
/// choose any other name.
public enum OwnEvents {
    public static let all = [
        "app.memoryPressure", "app.moduleLost", "app.reload", "app.resume", "app.suspend", "app.terminate",
    ]
}

/// A call's `to`, split: `Interface/action` or `Interface#INSTANCE/action`.
///
/// It holds ranges of offsets in the parsed bytes. The caller keeps those bytes, without JSON's
/// escapes.
public struct Destination: Sendable, Equatable {
    /// The interface's name, without the suffix `Router`.
    public let interface: Range<Int>
    /// The instance's digits without the `#`, if an instance is named.
    ///
    /// `Name.instanceNumber` tells whether an instance can have that number.
    public let instance: Range<Int>?
    /// The action's name.
    public let action: Range<Int>

    /// Splits a `to`. Nil if it is malformed: no slash, an interface or an action that breaks the
    /// rules for names, or an instance that isn't digits.
    ///
    /// A reserved interface is not an error here: `bus/hello` is a valid destination.
    public init?(_ to: UnsafeRawBufferPointer) {
        // Names contain neither mark, so the first ones are the only ones.
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
