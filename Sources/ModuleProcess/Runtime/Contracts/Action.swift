public import StrataCore

/// The parameters of a request. The type also names the action and the type of its reply.
///
/// Parameters travel as JSON, by `Codable`. A type that is a single value on the wire conforms to
/// `RawRepresentable`.
public protocol Action: InterfaceMember {
    /// The type of the reply; `Nothing` by default.
    associatedtype Reply: Codable & Sendable = Nothing

    /// The action's name, written as `action("play")` inside its `Interface`.
    static var name: ActionName { get }
    /// The errors of its own that the action answers with, and what each means: `["Player.no-such-track":
    /// "The library has no track of that name."]`. None by default.
    static var errors: KeyValuePairs<String, String> { get }
    /// The most descriptors that go with a call and with its reply, which the contract says to callers:
    /// `static let descriptors = DescriptorCounts(params: 1)`. A provider exports it with as many. None by
    /// default.
    static var descriptors: DescriptorCounts { get }
}

extension Action {
    public static var errors: KeyValuePairs<String, String> { [:] }
    public static var descriptors: DescriptorCounts { .none }
}

/// An action that replies in parts. Each element is a partial reply, sent no faster than the caller
/// takes them.
public protocol StreamingAction: InterfaceMember {
    /// The type of one partial reply.
    associatedtype Element: Codable & Sendable

    /// The action's name, written as `action("positions")` inside its `Interface`.
    static var name: ActionName { get }
    /// The errors of its own that the action answers with, and what each means. None by default.
    static var errors: KeyValuePairs<String, String> { get }
}

extension StreamingAction {
    public static var errors: KeyValuePairs<String, String> { [:] }
}

/// The reply of an action that only reports that it is done: `{}`.
public struct Nothing: Codable, Sendable, Equatable {
    /// Creates the only value.
    public init() {}
    // Any reply of an untyped callee counts as `{}`.
    public init(from decoder: any Decoder) throws {}
}

/// The full name of an action: the name of its interface and its own.
public struct ActionName: Sendable, CustomStringConvertible {
    /// The interface's name, without a `Router` suffix.
    public let interface: String
    /// The action's own name.
    public let action: String
    /// The name as it stands on the wire: `Player/play`.
    public let destination: String
    /// The interface; nil if only its name is known.
    let owner: (any Interface.Type)?

    /// Creates the name of an action. Contracts use `Interface.action(_:)` instead.
    public init(interface: String, action: String) { self.init(interface: interface, action: action, of: nil) }

    init(interface: String, action: String, of owner: (any Interface.Type)?) {
        self.interface = interface
        self.action = action
        self.owner = owner
        destination = "\(interface)/\(action)"
    }

    public var description: String { destination }
}

extension ActionName: Hashable {
    public static func == (left: ActionName, right: ActionName) -> Bool {
        left.interface == right.interface && left.action == right.action
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(destination) }
}

/// A named set of actions, written as a caseless enum that nests them:
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
/// A provider and its users both import the library that declares the interface, so the compiler
/// checks both ends.
public protocol Interface: SendableMetatype {
    /// The interface's name on the bus: `[A-Za-z][A-Za-z0-9._-]{0,63}`.
    static var name: String { get }

    /// The version of the interface's contract, written with its type:
    /// `static let version: ContractVersion? = "2.1"`. Nil by default: then it is compared with no
    /// other.
    static var version: ContractVersion? { get }

    /// The actions and notifications of the interface, written with their type:
    /// `static let members: [any InterfaceMember.Type] = [Play.self, Started.self]`.
    ///
    /// They are what a module that requires the interface says of it. If there are any, a provider
    /// that exports others, or not all of them, can't be described. Empty by default.
    static var members: [any InterfaceMember.Type] { get }
}

/// What can be listed in an interface's `members`: an `Action`, a `StreamingAction`, a `Broadcast` or
/// a `Report`. Conform to one of these instead.
public protocol InterfaceMember: Codable, Sendable {}

extension Interface {
    public static var version: ContractVersion? { nil }
    public static var members: [any InterfaceMember.Type] { [] }

    /// Returns the name of one of this interface's actions. Use it for `name` in the nested action.
    public static func action(_ action: String) -> ActionName {
        ActionName(interface: name, action: action, of: Self.self)
    }
}

/// A notification: a name and its content. A contract conforms to `Broadcast`, to `Report`, or to
/// both.
public protocol Notice: InterfaceMember {
    /// The notification's name on the bus, 1 to 256 bytes: `library.track-removed`.
    static var name: String { get }

    /// The object that the notification is about, for observers that filter by object. Nil by
    /// default.
    var object: String? { get }
}

extension Notice {
    public var object: String? { nil }
}

/// A notification for every observer in a later level: it goes down the table.
public protocol Broadcast: Notice {}

/// A notification for one module of the same or an earlier level: it goes up the table. Its sender
/// can wait until that module's observers have handled it.
public protocol Report: Notice {}
