public import StrataCore

/// The open requests of a bus as trees: each request with those that were made for it.
public struct RequestTree: Sendable {
    /// An open request, from `bus/requests`.
    public struct Request: Sendable {
        /// The JSON from the bus.
        public let json: JSON
        /// The sender: a module's name, `operator`, `launcher` or `bus`.
        public let from: String
        /// `Interface/action`, or a report's name.
        public let to: String
        /// The module that has it, or that it waits for; empty if the bus itself has it.
        public let module: String
        /// What it waits for: `waiting`, `authorizing`, `queued`, `delivered` or `open`.
        public let state: String
        /// When it was sent, in milliseconds since 1970.
        public let since: Int64
        /// Whether its module is part of the chain already: a circle.
        public fileprivate(set) var isCircle = false
        /// The number of listed requests above it.
        public fileprivate(set) var indent = 0

        init(_ json: JSON) {
            self.json = json
            from = json["from"]?.string ?? "?"
            to = json["to"]?.string ?? "?"
            module = json["module"]?.string ?? ""
            state = json["state"]?.string ?? "?"
            since = json["since"]?.integer ?? 0
        }
    }

    /// The requests of each tree: the first one, then each with those made for it behind it. The
    /// oldest tree comes first.
    public let trees: [[Request]]
    /// The number of further open requests, which the bus left out.
    public let omitted: Int

    /// - Parameter answer: the answer of `bus/requests`. The streams of `bus/watch`,
    ///   `bus/monitor` and `bus/traffic` are left out: they wait for nothing.
    public init(_ answer: JSON) {
        omitted = Int(answer["omitted"]?.integer ?? 0)
        let all = (answer["requests"]?.array ?? []).map(Request.init).filter { !Self.streams.contains($0.to) }
        let listed = Set(all.compactMap { $0.json["id"]?.integer })
        var children: [Int64: [Request]] = [:]
        var first: [Request] = []
        for request in all {
            if let parent = request.json["parent"]?.integer, listed.contains(parent) {
                children[parent, default: []].append(request)
            } else {
                first.append(request)
            }
        }
        trees = first.map { Self.tree($0, children) }
    }

    private static let streams: Set<String> = ["bus/watch", "bus/monitor", "bus/traffic"]

    /// Walks with a list of its own, because a chain may be long.
    private static func tree(_ first: Request, _ children: [Int64: [Request]]) -> [Request] {
        var tree: [Request] = []
        var waiting: [(request: Request, chain: Set<String>)] = [(first, [first.from])]
        while var (request, chain) = waiting.popLast() {
            // A report and its notices have the same module.
            let isNotice = request.json["kind"]?.string == "notice"
            request.isCircle = !request.module.isEmpty && !isNotice && chain.contains(request.module)
            tree.append(request)
            chain.insert(request.module)
            for child in (request.json["id"]?.integer.flatMap { children[$0] } ?? []).reversed() {
                var child = child
                child.indent = request.indent + 1
                waiting.append((child, chain))
            }
        }
        return tree
    }

    /// The trees in which a module sends, has or awaits a request.
    public func trees(with module: String) -> [[Request]] {
        trees.filter { $0.contains { $0.from == module || $0.module == module } }
    }
}
