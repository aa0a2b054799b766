import StrataCore

/// Rows whose modules run on other nodes.
extension BusCore {
    /// Whether a module runs on other nodes alone.
    func isAway(_ module: ModuleRecord) -> Bool {
        table.node != nil && module.row?.isAway(from: table.node) == true
    }

    /// Whether a module runs on other nodes alone, and none of them is connected. One whose row has
    /// just moved away still has its session here for a moment.
    func isUnreachable(_ module: ModuleRecord) -> Bool { module.peer == nil && isAway(module) }

    /// Whether a request gets to its owner's node; nil if that is this one.
    func reach(_ owner: ModuleRecord) -> Reach? { isUnreachable(owner) ? .disconnected : nil }

    /// Returns the refusal of a request to a module whose node isn't connected.
    func unreachable(_ module: ModuleRecord) -> BusError {
        let nodes = nodes(of: module)
        let place =
            nodes.count == 1
            ? "the node \(nodes[0]), which isn't connected"
            : "the nodes \(nodes.joined(separator: ", ")), none of which is connected"
        return BusError(.unavailable, "\(module.name) is on \(place)")
    }

    // MARK: listings

    /// Returns the nodes that a module's state is about: this one, or those on which an away row
    /// runs; empty if the app has no nodes.
    func nodes(of module: ModuleRecord) -> [String] {
        guard let node = table.node else { return [] }
        guard isAway(module), case .on(let nodes)? = module.row?.placement else { return [node] }
        return nodes
    }

    /// Returns the word for a module's state.
    func stateWord(of module: ModuleRecord) -> String {
        isUnreachable(module) ? "unreachable" : module.life.word
    }
}
