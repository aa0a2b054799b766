import StrataCore

/// The nodes of an app that runs on several: which messages leave theirs.
extension Judge {
    /// Returns `connected` if a request leaves its node, because a manifest doesn't say which nodes
    /// are connected; nil if the owner's module runs wherever the caller's does.
    func reach(_ caller: AppTable.Row, _ owner: AppTable.Row) -> Reach? {
        index.table.nodes(of: caller, without: owner).isEmpty ? nil : .connected
    }

    /// Explains where a request goes; nil if the app has no nodes.
    func node(_ caller: AppTable.Row, _ owner: AppTable.Row) -> Judgement.Finding? {
        let table = index.table
        guard !table.nodes.isEmpty else { return nil }
        let place = place(owner, "node")
        let nodes = table.nodes(of: caller, without: owner)
        guard !nodes.isEmpty else {
            return .init("\(owner.name) is on \(owner.placement), so the request stays on its node", place)
        }
        let near = table.nodes(of: caller).filter { !nodes.contains($0) }
        return .init(
            "\(caller.name) on \(nodes.joined(separator: ", ")) → \(owner.name) on \(owner.placement): goes over the "
                + "link" + (near.isEmpty ? "" : "; on \(near.joined(separator: ", ")) it stays on its node"), place)
    }

    /// Returns the addition to an observer's finding if a broadcast leaves its node on the way there.
    func leaving(_ sender: AppTable.Row, _ observer: AppTable.Row) -> String {
        index.table.broadcastLeaves(from: sender, to: observer)
            ? "; \(sender.name) on \(sender.placement) → \(observer.name) on \(observer.placement): goes over the link"
            : ""
    }
}
