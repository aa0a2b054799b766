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
