internal import FaultPlan
internal import FaultRecord
internal import Glibc
internal import StrataOperator

/// Harming what is between an app's nodes, and whole nodes.
extension Run {
    private static let pause: UInt64 = 50_000_000

    private func after(_ fault: PlannedFault, _ what: @escaping () throws -> Void) {
        later.append((Record.now + UInt64(fault.milliseconds) * 1_000_000, what))
    }

    /// Does something again and again until it succeeds.
    private func soon(_ what: @escaping () throws -> Void) { later.append((Record.now + Self.pause, what)) }

    func killServer(_ fault: PlannedFault) {
        guard let server, server.pid > 0 else { return }
        note(fault, 0, server.pid)
        server.kill()
        after(fault) { try server.start() }
    }

    func cutCable(_ fault: PlannedFault) throws {
        guard let networks else { return }
        note(fault, nodes[fault.node].index, 0)
        try networks.setCable(of: fault.node, isUp: false)
        after(fault) { try networks.setCable(of: fault.node, isUp: true) }
    }

    /// Kills a node's launcher, or every second time all of its processes, and starts the node again
    /// when all have ended.
    func killNode(_ fault: PlannedFault, _ node: AppNode) {
        guard node.launcher > 0 else { return }
        let all = fault.at % 2 == 0
        note(fault, node.index, node.launcher, detail: all ? 1 : 0)
        node.link.close()
        processes.kill(node, all: all)
        let limit = Record.now + 12_000_000_000
        after(fault) { [unowned self] in try start(node, limit) }
    }

    private func start(_ node: AppNode, _ limit: UInt64) throws {
        guard processes.hasEnded(node) else {
            guard Record.now < limit else {
                throw RunFailure("processes\(node.place) outlive their launcher by more than 12 s: \(node.ending)")
            }
            return soon { [unowned self] in try start(node, limit) }
        }
        try processes.startLauncher(of: node)
    }

    /// Gives a row other URLs on one node, and takes them back later.
    func changeRow(_ fault: PlannedFault, _ node: AppNode) throws {
        note(fault, node.index, 0, detail: UInt64(Role.index(of: fault.role) ?? 0))
        node.manifest.different = fault.role
        try places.write(node.manifest.text, to: node.manifestPath)
        node.link.send("bus/reload") { _ in }
        after(fault) { [unowned self] in
            node.manifest.different = ""
            try places.write(node.manifest.text, to: node.manifestPath)
            mend(node)
        }
    }

    /// Reloads the manifest, again if the broker dies meanwhile.
    private func mend(_ node: AppNode) {
        node.link.send("bus/reload") { [unowned self] answer in
            if case .failure = answer { soon { [unowned self] in mend(node) } }
        }
    }
}
