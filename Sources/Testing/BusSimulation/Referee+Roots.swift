import StrataCore

/// Judges where an error says that it began.
extension Referee {
    func checkRoot(of frame: SimulatedFrame, _ request: SimulatedRequest, wasAnswered: Bool) {
        guard let root = frame.root else {
            guard wasAnswered, let child = failureBehind(request) else { return }
            return expect(
                false, .root, "\(name(request)) failed without a root, and \(name(child)) had failed behind it before")
        }
        expect(wasAnswered, .root, "\(name(request)) ended with the bus's own \(frame.code), and it has a root")
        expect(
            requests.contains { isBehind($0, request) && mayBe(root, $0) }, .root,
            "\(name(request)) failed with the root \(root), and no such request was made for it")
    }

    /// Returns a request that certainly failed before the callee's answer was handled. A report has
    /// several callees, each with requests of its own, so it isn't judged.
    private func failureBehind(_ request: SimulatedRequest) -> SimulatedRequest? {
        if case .report = request.target { return nil }
        return requests.first {
            $0.parent == request.number && $0.state == .ended && !["", "reply"].contains($0.end.code)
                && $0.end.order < request.answeredAt
        }
    }

    /// Whether a request was made for another one, or for a request that was.
    private func isBehind(_ request: SimulatedRequest, _ other: SimulatedRequest) -> Bool {
        var parent = request.parent
        while parent > other.number { parent = requests[parent].parent }
        return parent == other.number
    }

    /// Whether a root may tell the failure of a request, whose sender may not have got its error.
    private func mayBe(_ root: BusError.Root, _ request: SimulatedRequest) -> Bool {
        // A connection that ends doesn't get the errors that still wait for it.
        let isKnown = request.state == .ended && !request.end.code.isEmpty
        guard !isKnown || request.end.code == root.code.rawValue else { return false }
        let rows = app.modules.map(\.row.name)
        let others = app.others.map(\.text)
        guard root.module == "bus" || rows.contains(root.module) || others.contains(root.module) else { return false }
        return switch request.target {
        case .action(let owner, let action): root.path == "\(app.modules[owner].interface)/\(action)"
        case .url(let owner, let url):
            root.path == nil || root.path == "\(app.modules[owner].interface)/\(url.action)"
        case .report: root.path == "n\(request.name)"
        // An instance is named only if the bus refused the request at once.
        case .instance(let instance): root.path == "\(instance)/a" || root.path == "\(instance.prefix { $0 != "#" })/a"
        case .broadcast: false
        case .elsewhere(let url): root.path == (url.isAsked ? "bus/canOpen" : nil)
        case .bus: root.path?.hasPrefix("bus/") == true || root.path?.hasPrefix("launcher/") == true
        case .observe, .unobserve, .create, .release: root.path?.hasPrefix("bus/") == true
        }
    }
}
