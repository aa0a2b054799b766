internal import StrataContracts
internal import StrataCore

/// How a contract differs from an older one.
public struct ContractComparison: Sendable, Equatable {
    /// The gravest of all changes.
    public enum Result: String, Sendable, Comparable {
        case same, compatible, breaking

        private var rank: Int {
            switch self {
            case .same: 0
            case .compatible: 1
            case .breaking: 2
            }
        }

        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    /// More changes are counted in `result`, but not listed.
    public static let mostChanges = 1_000

    public private(set) var result = Result.same
    /// The changes, in the order of the old contract, then what is added.
    public private(set) var changes: [ContractChange] = []
    private let oldVersion: ContractVersion?
    private let newVersion: ContractVersion?

    init(from old: ContractVersion?, to new: ContractVersion?) {
        (oldVersion, newVersion) = (old, new)
    }

    mutating func add(_ kind: ContractChange.Kind, _ path: ValuePath, _ old: String, _ new: String) {
        result = max(result, kind == .breaking ? .breaking : .compatible)
        guard changes.count < Self.mostChanges else { return }
        changes.append(ContractChange(kind: kind, path: path.description, old: old, new: new))
    }

    /// What is wrong with the new contract's version, and what to do; nil if it is honest.
    ///
    /// Compatible changes need a higher minor or major version, and breaking ones a higher major.
    /// Without versions only breaking changes are wrong, because nothing then tells callers.
    public var versionFault: String? {
        guard result != .same else { return nil }
        guard let old = oldVersion, let new = newVersion else {
            return result == .breaking ? "there are breaking changes: both contracts need versions" : nil
        }
        switch result {
        case .same: return nil
        case .compatible:
            guard new <= old else { return nil }
            let next = old.minor < .max ? "\(old.major).\(old.minor + 1)" : "a higher major version"
            return "there are changes: the version after \(old) is \(next) or later, not \(new)"
        case .breaking:
            guard new.major <= old.major else { return nil }
            let next = old.major < .max ? "\(old.major + 1).0 or later" : "that of another interface"
            return "there are breaking changes: the version after \(old) is \(next), not \(new)"
        }
    }
}
