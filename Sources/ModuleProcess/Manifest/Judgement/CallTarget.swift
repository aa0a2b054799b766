import StrataCore

/// A call's `to`, or an interface alone.
struct CallTarget {
    /// The suffix `Router` taken off.
    var interface: String
    /// Nil where only an interface was named.
    var action: String?
    var hasInstance = false

    /// Nil where it is neither.
    init?(_ text: String) {
        if let destination = Destination(text) {
            let bytes = Array(text.utf8)
            interface = String(decoding: bytes[destination.interface], as: UTF8.self)
            action = String(decoding: bytes[destination.action], as: UTF8.self)
            hasInstance = destination.instance != nil
        } else {
            interface = Name.withoutRouterSuffix(text)
            guard Name.isInterface(interface) else { return nil }
        }
    }
}
