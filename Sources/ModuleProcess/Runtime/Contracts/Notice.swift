/// What is told to observers: a name and a content. A contract conforms to
/// `Broadcast`, to `Report`, or to both.
public protocol Notice: Codable, Sendable {
    /// The notification's name on the bus, 1 to 256 bytes: `library.track-removed`.
    static var name: String { get }

    /// What it is about, for observers that want those about one thing only.
    /// None where that isn't said.
    var object: String? { get }
}

extension Notice {
    public var object: String? { nil }
}

/// Told to every observer in a later level: down the table.
public protocol Broadcast: Notice {}

/// Told to one module of the same or an earlier level, up the table; its sender
/// can wait until the observers there have dealt with it.
public protocol Report: Notice {}
