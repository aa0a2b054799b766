public import StrataCore

/// What a module says of its types: its own contract, and those of the interfaces that it provides
/// and requires. `module/contracts` answers with it.
public struct ModuleContracts: Sendable, Equatable {
    /// What the module itself sends and observes, and its settings.
    public var module: Contract
    /// The interfaces that it provides, sorted by name.
    public var provides: [Contract]
    /// The interfaces that it requires as it was built, sorted by name. A contract has only what
    /// the module knows of the interface.
    public var requires: [Contract]
    /// The Swift names of what stands in the contracts, by JSON pointers into this document:
    /// `/provides/0/actions/search` is `Shop.Catalog.Search`. Tools find doc comments by them. Empty
    /// for a module in another language.
    public var types: [String: String]

    public init(
        module: Contract, provides: [Contract] = [], requires: [Contract] = [], types: [String: String] = [:]
    ) {
        self.module = module
        self.provides = provides
        self.requires = requires
        self.types = types
    }

    /// Returns the document, with its members in the canonical order.
    public func json() -> JSON {
        var members = [
            JSON.Member("module", module.json()),
            JSON.Member("provides", .array(provides.sorted(by: \.subject.name).map { $0.json() })),
            JSON.Member("requires", .array(requires.sorted(by: \.subject.name).map { $0.json() })),
        ]
        if !types.isEmpty {
            let sorted = types.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            members.append(JSON.Member("types", .object(sorted.map { JSON.Member($0.key, .string($0.value)) })))
        }
        return .object(members)
    }

    /// Returns the document's canonical bytes.
    public func encoded() -> [UInt8] { CanonicalJSON.encode(json()) }
}

extension ModuleContracts {
    /// Reads a document's bytes.
    /// - Throws: if they aren't JSON, if a contract in it breaks a rule, or if it is beyond one of the
    ///   bounds in `ContractLimits`.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(ContractError) {
        guard bytes.count <= ContractLimits.moduleBytes else {
            throw ContractError(.root, "a module's contracts have at most 16 MiB; these have \(bytes.count) bytes")
        }
        try self.init(json: try .reading(bytes, maximumValues: ContractLimits.moduleValues))
    }

    /// Reads a document's bytes, as from a buffer.
    public init(parsing bytes: [UInt8]) throws(ContractError) {
        self = try bytes.withUnsafeBytes { raw in
            Result { () throws(ContractError) in try ModuleContracts(parsing: raw) }
        }.get()
    }

    /// Reads a document that was parsed already.
    /// - Throws: as from bytes.
    public init(json: JSON) throws(ContractError) {
        let members = try ReadMembers(json, .root, "a module's contracts")
        try members.refuse(except: ["module", "provides", "requires", "types"], of: "a module's contracts")
        guard let own = members["module"] else { throw ContractError(.root, "the member module is missing") }
        let path = ValuePath.root.member("module")
        module = try Contract(json: own, at: path)
        guard case .module = module.subject else {
            throw ContractError(path, "expected the contract of a module; found that of \(module.subject.words)")
        }
        provides = try Self.interfaces("provides", of: members)
        requires = try Self.interfaces("requires", of: members)
        types = [:]
        guard let said = members["types"] else { return }
        let names = try ReadMembers(said, .root.member("types"), "the map of types")
        for name in names.members { types[name.name] = try names.string(name.name) }
    }

    private static func interfaces(_ name: String, of members: ReadMembers) throws(ContractError) -> [Contract] {
        var contracts: [Contract] = []
        var seen: Set<String> = []
        for (index, value) in (try members.array(name) ?? []).enumerated() {
            let path = ValuePath.root.member(name).element(index)
            let contract = try Contract(json: value, at: path)
            guard case .interface(let interface) = contract.subject else {
                throw ContractError(
                    path, "expected the contract of an interface; found that of \(contract.subject.words)")
            }
            guard seen.insert(interface).inserted else {
                throw ContractError(path, "\(interface) is there twice")
            }
            contracts.append(contract)
        }
        return contracts.sorted(by: \.subject.name)
    }
}

extension Contract.Subject {
    /// The subject in words: `the interface Catalog`.
    package var words: String {
        switch self {
        case .interface(let name): "the interface \(name)"
        case .module(let name): "the module \(name)"
        }
    }
}
