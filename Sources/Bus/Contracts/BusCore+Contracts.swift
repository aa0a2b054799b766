import StrataCore

/// `contracts: enforced`: no two live modules meet whose versions of an interface don't fit.
///
/// The sessions that serve are compared, each pair when its second half comes: at hello, at
/// `bus/register`, when a successor takes over, and at a reload. A successor counts only from then
/// on, and a session that it replaced no longer. So the sessions that work together keep working.
extension BusCore {
    /// Checks what a module brings with its hello, together with its row.
    /// - Parameter module: nil for a guest.
    func checkContracts(_ hello: Hello, of module: ModuleRecord?, _ name: String) throws(BusError) {
        try checkContracts(
            hello.offer.interfaces, hello.requires + (module?.rowRequires ?? []), of: module, name)
    }

    /// Checks what a module is about to bring.
    /// - Parameter module: nil for a guest that says hello.
    func checkContracts(
        _ interfaces: [Hello.Interface], _ requires: [RequiredInterface], of module: ModuleRecord?, _ name: String
    ) throws(BusError) {
        guard table.contracts == .enforced, module?.isCompared != false else { return }
        for interface in interfaces {
            guard let version = interface.version,
                let unmet = requirements.unmet(interface.name, by: version, of: module)
            else { continue }
            throw Misfit(
                interface: interface.name, provider: name, provided: version, requirer: unmet.module.name,
                required: unmet.version
            ).error
        }
        for required in requires {
            if let misfit = misfit(required, of: module, name, among: \.isCompared) { throw misfit.error }
        }
    }

    /// Returns a misfit if the live provider of a required interface doesn't serve the version.
    /// - Parameter isCompared: whether a provider is compared.
    private func misfit(
        _ required: RequiredInterface, of module: ModuleRecord?, _ name: String,
        among isCompared: (ModuleRecord) -> Bool
    ) -> Misfit? {
        guard let version = required.version, let interface = routes.interface(required.name), interface.isLive,
            let provided = interface.version, interface.owner !== module?.owning, !provided.serves(version),
            isCompared(interface.owner)
        else { return nil }
        return Misfit(
            interface: required.name, provider: interface.owner.name, provided: provided, requirer: name,
            required: version)
    }

    // MARK: what live modules require

    /// Notes what a session that serves requires.
    func noteRequired(_ required: [RequiredInterface], by module: ModuleRecord) {
        guard table.contracts == .enforced, module.isCompared else { return }
        requirements.add(required, of: module)
    }

    /// Forgets what a session required that ends, or that another one replaces.
    func forgetRequired(by module: ModuleRecord) {
        guard table.contracts == .enforced else { return }
        requirements.remove(module.session.requires + module.rowRequires, of: module)
    }

    /// Notes anew what all sessions that serve require, under a new table or in a new program.
    func noteAllRequired() {
        requirements = RequiredVersions()
        for module in modules.all where module.peer != nil {
            noteRequired(module.session.requires + module.rowRequires, by: module)
        }
    }

    // MARK: successors

    /// Ends a successor that doesn't fit a module that has joined since its hello.
    /// - Returns: whether it did.
    func endMisfit(_ successor: Successor, of module: ModuleRecord) -> Bool {
        do throws(BusError) {
            try checkContracts(
                successor.offer.interfaces, successor.requires + module.rowRequires, of: module, module.name)
            return false
        } catch {
            end(successor.peer, error)
            return true
        }
    }

    // MARK: reload

    /// The most pairs that the refusal of a reload names.
    private static let mostNamed = 8

    /// Checks that all sessions that serve fit under a new table.
    func checkContracts(under new: AppTable) throws(BusError) {
        guard new.contracts == .enforced else { return }
        let rows = Dictionary(new.modules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let owners = Dictionary(
            new.modules.flatMap { row in row.provides.map { ($0, ReplicaName.row(of: row.name)) } },
            uniquingKeysWith: { first, _ in first })
        /// Whether a module is compared, and stays.
        func isCompared(_ module: ModuleRecord) -> Bool {
            let row = rows[module.members.first?.name ?? module.name]
            guard module.row == nil else { return row.map { $0.contracts != .off } ?? false }
            let user = module.peer?.credentials.uid
            return row == nil && new.guests?.rank(of: module.name, user: user) == module.rank
        }
        var (named, count) = ([String](), 0)
        for module in modules.all where module.peer != nil && isCompared(module) {
            // Its row and its hello may say the same.
            var found: Set<String> = []
            for required in module.session.requires + (rows[module.name]?.requires ?? []) {
                let misfit = misfit(required, of: module, module.name) { owner in
                    isCompared(owner) && owners[required.name, default: owner.name] == owner.name
                }
                guard let misfit, found.insert(required.name).inserted else { continue }
                count += 1
                if named.count < Self.mostNamed { named.append(misfit.text) }
            }
        }
        guard count > 0 else { return }
        let more = count > named.count ? "; and \(count - named.count) more" : ""
        throw BusError(
            .incompatible,
            "\(count) \(count == 1 ? "pair" : "pairs") of live modules would not fit under contracts: enforced: "
                + "\(named.joined(separator: "; "))\(more): stop or replace one of each pair first, or say "
                + "contracts: off in its row")
    }
}

extension ModuleRecord {
    /// Whether its versions are compared under `contracts: enforced`.
    fileprivate var isCompared: Bool { !isRemoved && row?.contracts != .off }

    /// What its row requires.
    var rowRequires: [RequiredInterface] { row?.requires ?? [] }
}
