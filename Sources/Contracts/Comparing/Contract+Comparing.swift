public import StrataContracts
internal import StrataCore

extension Contract {
    /// Returns how this contract differs from an older one, for those who know the older one: a
    /// provider's callers, a sender's observers, whoever writes settings.
    ///
    /// The names of `$defs`, descriptions, examples and the order of members don't matter. A
    /// comparison that would take over a million steps, or that is nested over 128 members and
    /// elements deep, is given up, and counts as breaking.
    public func changes(from old: Contract) -> ContractComparison {
        var walk = ContractDifference(old, self)
        walk.compareDocuments()
        return walk.comparison
    }

    /// Returns how this contract of a provider differs from the one that a caller was built with.
    /// Only the actions and properties that the caller knows are compared.
    public func changes(forCaller caller: Contract) -> ContractComparison {
        var walk = ContractDifference(caller, self)
        walk.compareSubjects()
        walk.compareActions(listsAdded: false)
        walk.compareProperties(listsAdded: false)
        return walk.comparison
    }

    /// Returns how the content that this contract's owner sends differs from what an observer
    /// expects.
    /// - Parameters:
    ///   - notice: a notification of this contract, as it is sent.
    ///   - observed: the notification as the observer knows it.
    ///   - observer: the contract that the observed notification is from.
    public func changes(
        in notice: Notice, forObserver observed: Notice, of observer: Contract
    ) -> ContractComparison {
        var walk = ContractDifference(observer, self)
        walk.compare(observed.content, notice.content, .output, .root)
        return walk.comparison
    }
}
