/// A request's parameters, which know their action's name and what it answers.
///
/// The type itself is what travels, as JSON by `Codable`. One that is a single
/// value on the wire says so with `RawRepresentable`.
public protocol Action: Codable, Sendable {
    /// What it is answered with; `Nothing` where that isn't said.
    associatedtype Reply: Codable & Sendable = Nothing

    /// Written as `action("play")` within its `Interface`.
    static var name: ActionName { get }
}

/// An action that is answered bit by bit: each element is a partial reply, sent
/// as fast as the caller takes them and no faster.
public protocol StreamingAction: Codable, Sendable {
    /// What one partial reply holds.
    associatedtype Element: Codable & Sendable

    /// Written as `action("positions")` within its `Interface`.
    static var name: ActionName { get }
}

/// The reply of an action that has nothing to say but that it is done: `{}`.
public struct Nothing: Codable, Sendable, Equatable {
    /// There is one of it.
    public init() {}
    // Whatever an untyped callee answers is as good as `{}`.
    public init(from decoder: any Decoder) throws {}
}

/// An action's full name: its interface's and its own.
public struct ActionName: Sendable, Hashable, CustomStringConvertible {
    /// The interface's name, without a suffix `Router`.
    public let interface: String
    /// The action's own name.
    public let action: String
    /// As it stands on the wire: `Player/play`.
    public let destination: String

    /// What `action(_:)` of a contract makes.
    public init(interface: String, action: String) {
        self.interface = interface
        self.action = action
        destination = "\(interface)/\(action)"
    }

    public var description: String { destination }
}

/// A named set of actions, as a caseless enum that the actions are nested in:
///
///     public enum Player: Interface {
///         public static let name = "Player"
///
///         /// Starts a track, and answers with its length in seconds.
///         public struct Play: Action {
///             public static let name = action("play")
///             public typealias Reply = Double
///             public var track: String
///         }
///     }
///
/// A provider and its users both import the library that this stands in, and
/// the compiler checks both ends.
public protocol Interface {
    /// Its name on the bus: `[A-Za-z][A-Za-z0-9._-]{0,63}`.
    static var name: String { get }
}

extension Interface {
    /// The name of one of this interface's actions, to be said in the action
    /// that is nested in it.
    public static func action(_ action: String) -> ActionName {
        ActionName(interface: name, action: action)
    }
}

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
