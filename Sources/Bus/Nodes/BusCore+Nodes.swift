import StrataCore

/// Rows whose modules run on other nodes.
extension BusCore {
    /// Returns the refusal of a request to a module whose node isn't connected.
    func unreachable(_ module: ModuleRecord) -> BusError {
        var place = ""
        if case .on(let nodes)? = module.row?.placement {
            place =
                nodes.count == 1
                ? "the node \(nodes[0]), which isn't connected"
                : "the nodes \(nodes.joined(separator: ", ")), none of which is connected"
        }
        return BusError(.unavailable, "\(module.name) is on \(place)")
    }
}
