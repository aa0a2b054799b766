/// JSON pointers, by RFC 6901.
public enum JSONPointer {
    /// Returns a name as it stands between the slashes of a pointer.
    public static func token(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
    }
}
