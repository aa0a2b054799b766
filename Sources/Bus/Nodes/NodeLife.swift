/// How the bus sees another node: whether its broker is connected, and whether they agree.
///
/// A state machine without I/O. `after` lists each legal pair of state and event; any other pair is
/// a bug in the bus. docs/architecture.md shows its diagram.
enum NodeLife: Equatable {
    /// Its broker has never been connected since this one began.
    case never
    /// A connection to its broker is there, and its table hasn't come whole yet.
    case joining
    case up
    /// Its broker has another app's table, so nothing passes.
    case mismatch
    /// The connection has ended.
    case lost

    enum Event: CaseIterable {
        /// The link has made a connection to its broker.
        case connected
        /// Its table has come, and both agree on what all nodes must have in common.
        case agreed
        case disagreed
        case ended
    }

    /// Returns the state after an event; nil if the event is illegal in this state.
    func after(_ event: Event) -> NodeLife? {
        switch (self, event) {
        case (.never, .connected), (.lost, .connected): .joining
        case (.joining, .agreed), (.up, .agreed): .up
        case (.joining, .disagreed), (.up, .disagreed): .mismatch
        case (.joining, .ended), (.up, .ended), (.mismatch, .ended): .lost
        case (.never, .agreed), (.never, .disagreed), (.never, .ended), (.joining, .connected), (.up, .connected),
            (.mismatch, .connected), (.mismatch, .agreed), (.mismatch, .disagreed), (.lost, .agreed),
            (.lost, .disagreed), (.lost, .ended):
            nil
        }
    }

    /// Moves to the state that an event leads to.
    mutating func take(_ event: Event) {
        guard let next = after(event) else { preconditionFailure("illegal transition: \(self), \(event)") }
        self = next
    }

    /// Whether a connection to its broker is there.
    var isConnected: Bool { self == .joining || self == .up || self == .mismatch }

    /// Says why a node can't be reached, as a part of a sentence.
    func absence(of name: String, _ reason: String) -> String {
        let why = reason.isEmpty ? "" : ": \(reason)"
        return switch self {
        case .never: "\(name) has not been connected yet"
        case .joining: "\(name) is joining"
        case .up: "\(name) is up"
        case .mismatch: "\(name) has another manifest\(why)"
        case .lost: "\(name) is lost\(why)"
        }
    }

    /// The state's name for people and programs.
    var word: String { "\(self)" }
}
