import Foundation
import StrataManifest
import StrataOperator
import StrataPictures

/// The graph that the picture shows: what the manifest declares, or else what the bus reports, and what
/// was seen besides.
struct PictureSource: Sendable {
    /// The most edges that are added because they were seen. More of them would only blur the picture.
    static let mostSeen = 512
    /// How many looks pass between two readings of the interfaces.
    private static let patience = 10

    /// Changes when the picture does.
    private(set) var version: UInt64 = 0
    private(set) var graph = AppGraph(app: "", levels: [])
    /// What the manifest declares; nil without one.
    private var declared: AppGraph?
    /// When the manifest that was read last had been written.
    private var readAt: Date?
    private var interfaces: [InterfaceRow] = []
    private var rows: [ModuleRow] = []
    private var seen: [String: TrafficEdge] = [:]
    private var turns = 0

    /// Reads what the manifest declares, if its file has changed. A manifest with errors changes nothing.
    /// - Returns: whether there is something new.
    mutating func readManifest(_ path: String?) -> Bool {
        guard let path,
            let changed = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date,
            changed != readAt
        else { return false }
        readAt = changed
        guard let manifest = try? Manifest.load(path: path, environment: ProcessInfo.processInfo.environment) else {
            return false
        }
        declared = AppGraph(manifest.table)
        return true
    }

    /// Takes the modules of the bus.
    /// - Returns: whether the picture has changed.
    mutating func modules(_ rows: [ModuleRow], levels: [String], app: String) -> Bool {
        let isSame = graph.app == app && self.rows.map(\.name) == rows.map(\.name)
        self.rows = rows
        if !isSame { draw(levels: levels, app: app) }
        return !isSame
    }

    /// Takes the interfaces of the bus, and the manifest's changes.
    /// - Returns: whether the picture has changed.
    mutating func interfaces(
        _ interfaces: [InterfaceRow], manifest: String?, levels: [String], app: String
    ) -> Bool {
        let isDeclaredAnew = readManifest(manifest)
        let isSame = self.interfaces.map(\.json) == interfaces.map(\.json)
        self.interfaces = interfaces
        guard isDeclaredAnew || !isSame && declared == nil else { return false }
        draw(levels: levels, app: app)
        return true
    }

    /// Takes an edge that was counted.
    /// - Returns: whether the picture has changed.
    mutating func saw(_ edge: TrafficEdge) -> Bool {
        guard seen[edge.key] == nil, seen.count < Self.mostSeen, AppGraph.Kind(rawValue: edge.kind) != nil else {
            return false
        }
        seen[edge.key] = edge
        guard add(edge) else { return false }
        version += 1
        return true
    }

    private mutating func add(_ edge: TrafficEdge) -> Bool {
        guard let kind = AppGraph.Kind(rawValue: edge.kind) else { return false }
        return graph.addSeen(kind, from: edge.from, to: edge.to, name: edge.name)
    }

    private mutating func draw(levels: [String], app: String) {
        if let declared, declared.app == app {
            graph = declared
            graph.add(rows)
        } else {
            graph = AppGraph(app: app, levels: levels, modules: rows, interfaces: interfaces)
        }
        for edge in seen.sorted(by: { $0.key < $1.key }) { _ = add(edge.value) }
        version += 1
    }

    /// Whether it is time to ask for the interfaces again.
    mutating func wantsInterfaces() -> Bool {
        defer { turns += 1 }
        return turns % Self.patience == 0
    }
}
