import StrataCore

/// Rows whose modules run on other nodes.
extension BusCore {
    /// Whether a module runs on other nodes alone. One whose row has just moved away still has its
    /// session here for a moment.
    func isElsewhere(_ module: ModuleRecord) -> Bool { module.isAway && module.peer == nil }

    /// Returns the row of another node that a replica's name means; nil for other names. Which replicas the row has
    /// is known there alone.
    func awayRow(ofReplica name: UnsafeRawBufferPointer) -> ModuleRecord? {
        guard let row = ReplicaName(name.text).flatMap({ modules.find($0.row) }), isElsewhere(row) else { return nil }
        return row
    }

    /// Whether a request gets to its owner's node; nil if that is this one.
    func reach(_ owner: ModuleRecord) -> Reach? {
        guard isElsewhere(owner) else { return nil }
        return owner.remotes.contains(where: \.isRouted) || isAwaited(owner) ? .connected : .disconnected
    }

    /// Whether requests wait until some node of an away row joins.
    private func isAwaited(_ owner: ModuleRecord) -> Bool {
        guard let placement = owner.row?.placement else { return false }
        return nodes.nodes.contains { $0.awaitedUntil != nil && placement.includes($0.name) }
    }

    /// Returns the nodes that a module's state is about: this one, or those on which an away row
    /// runs; empty if the app has no nodes.
    func nodes(of module: ModuleRecord) -> [String] {
        guard let node = table.node else { return [] }
        guard module.isAway, case .on(let nodes)? = module.row?.placement else { return [node] }
        return nodes
    }

    /// Returns the word for a module's state.
    func stateWord(of module: ModuleRecord) -> String {
        guard isElsewhere(module) else { return module.life.word }
        let remotes = module.remotes.lazy.filter(\.isRouted)
        return remotes.isEmpty ? "unreachable" : remotes.contains(where: \.isReady) ? "ready" : "elsewhere"
    }
}
