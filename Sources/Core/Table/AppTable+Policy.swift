extension AppTable {
    /// Why the app's rules don't let something through.
    public enum PolicyRefusal: Sendable, Equatable {
        /// It would go where the level table doesn't lead: `level-violation`.
        case level
        /// The sender's row doesn't have it: `undeclared`.
        case undeclared
    }
}

/// What the app's rules have against a message, from ranks and rows alone; the
/// broker asks, and so does whoever explains its answer.
extension AppTable.CallPolicy {
    /// Of a call to another module's interface; one's own are always free.
    /// - Parameter isDeclared: whether the caller's row requires the interface
    ///   under the name that it asks for.
    @inlinable
    public func refusal(
        ofCallFrom caller: Int, to owner: Int, isDeclared: @autoclosure () -> Bool
    ) -> AppTable.PolicyRefusal? {
        guard self != .any else { return nil }
        guard LevelRule.callMayGo(from: caller, to: owner) else { return .level }
        return self == .declared && !isDeclared() ? .undeclared : nil
    }

    /// Of a report to a module.
    /// - Parameter isDeclared: whether the sender's row reports that name to it.
    @inlinable
    public func refusal(
        ofReportFrom sender: Int, to target: Int, isDeclared: @autoclosure () -> Bool
    ) -> AppTable.PolicyRefusal? {
        guard LevelRule.reportMayGo(from: sender, to: target) else { return .level }
        return self == .declared && !isDeclared() ? .undeclared : nil
    }

    /// Of a module's broadcast; which observers it reaches is another question.
    /// - Parameter isDeclared: whether the sender's row broadcasts that name.
    @inlinable
    public func refusal(ofBroadcast isDeclared: @autoclosure () -> Bool) -> AppTable.PolicyRefusal? {
        self == .declared && !isDeclared() ? .undeclared : nil
    }
}
