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
