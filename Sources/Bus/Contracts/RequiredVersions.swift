import StrataCore

/// The versions that connected modules require of interfaces, under `contracts: enforced`.
///
/// Whether a provider fits all of them takes a few look-ups, however many modules require the
/// interface: all versions that a provider serves lie next to each other, so it is enough to look
/// at the lowest and the highest one.
struct RequiredVersions {
    /// A module's requirement of one interface.
    struct Requirement {
        let version: ContractVersion
        let module: ModuleRecord

        /// The order within an interface.
        static func < (one: Requirement, other: Requirement) -> Bool {
            (one.version, one.module.number) < (other.version, other.module.number)
        }
    }

    /// By interface, in their order. Of each module only the lowest and the highest one of each
    /// hello or part are here.
    private(set) var requirements: [String: [Requirement]] = [:]
    /// The requirements that were compared with a version so far, for tests of the work.
    private(set) var comparisons = 0

    /// Returns a requirement that a provider's version doesn't meet; nil if it meets all.
    /// - Parameter owner: the provider, whose own requirements don't count; nil for a guest that
    ///   says hello.
    mutating func unmet(_ interface: String, by version: ContractVersion, of owner: ModuleRecord?) -> Requirement? {
        guard let all = requirements[interface] else { return nil }
        for requirement in [all.first { $0.module !== owner }, all.last { $0.module !== owner }] {
            guard let requirement else { return nil }
            comparisons += 1
            if !version.serves(requirement.version) { return requirement }
        }
        return nil
    }

    /// Adds what a hello or a part requires, or a row.
    mutating func add(_ required: [RequiredInterface], of module: ModuleRecord) {
        var ranges: [String: ClosedRange<ContractVersion>] = [:]
        for one in required {
            guard let version = one.version else { continue }
            let range = ranges[one.name] ?? version...version
            ranges[one.name] = min(range.lowerBound, version)...max(range.upperBound, version)
        }
        for (name, range) in ranges {
            Self.insert(Requirement(version: range.lowerBound, module: module), into: &requirements[name, default: []])
            guard range.lowerBound < range.upperBound else { continue }
            Self.insert(Requirement(version: range.upperBound, module: module), into: &requirements[name, default: []])
        }
    }

    private static func insert(_ requirement: Requirement, into all: inout [Requirement]) {
        let place = all.place { $0 < requirement }
        // Both its row and its hello may say it.
        if place < all.count, !(requirement < all[place]) { return }
        all.insert(requirement, at: place)
    }

    /// Removes what a module required; what isn't here is passed over.
    mutating func remove(_ required: [RequiredInterface], of module: ModuleRecord) {
        for one in required {
            guard let version = one.version, let index = requirements.index(forKey: one.name) else { continue }
            let requirement = Requirement(version: version, module: module)
            let place = requirements.values[index].place { $0 < requirement }
            guard place < requirements.values[index].count, !(requirement < requirements.values[index][place]) else {
                continue
            }
            requirements.values[index].remove(at: place)
            if requirements.values[index].isEmpty { requirements.remove(at: index) }
        }
    }
}
