import StrataCore

/// One mapping of the manifest: the keys that it may have, in order.
///
/// The reader refuses every other key, and the manifest's JSON Schema is made of the same shapes.
struct ManifestShape: Sendable {
    /// A key of a mapping.
    struct Key: Sendable {
        var name: String
        var type: ManifestType
        /// What the key means, in one sentence for whoever edits a manifest.
        var meaning: String
        var isRequired: Bool
        /// The value that stands for a missing key, as a manifest would have it; nil if there is none.
        var standard: JSON?

        init(_ name: String, _ type: ManifestType, _ meaning: String, standard: JSON? = nil, isRequired: Bool = false) {
            self.name = name
            self.type = type
            self.meaning = meaning
            self.standard = standard
            self.isRequired = isRequired
        }
    }

    /// The mappings with keys of their own.
    enum Name: String, CaseIterable, Sendable {
        case app, limits, guests, openableBy
        case row, backoff, ping, processLimits, urlTarget, observation, otherApp, secret, replicas
        case adapter, adaptedAction, node, federation
    }

    /// What the mapping says, in one sentence.
    var meaning: String
    var keys: [Key]
    /// Keys of which a mapping must have exactly one; empty if there is no such choice.
    var oneOf: [String] = []
    /// Whether the mapping may be left out after its key, as in `Storage:`.
    var mayBeEmpty = false

    var names: [String] { keys.map(\.name) }
}

/// The shapes of all mappings: what a manifest may say.
struct ManifestShapes: Sendable {
    static let all = ManifestShapes()

    private var shapes: [ManifestShape.Name: ManifestShape]

    private init() {
        shapes = [:]
        for name in ManifestShape.Name.allCases { shapes[name] = Self.shape(name) }
    }

    subscript(name: ManifestShape.Name) -> ManifestShape { shapes[name] ?? Self.shape(name) }

    /// Returns the shapes without one key.
    func without(_ key: String, of name: ManifestShape.Name) -> ManifestShapes {
        var rest = self
        rest.shapes[name]?.keys.removeAll { $0.name == key }
        return rest
    }

    private static func shape(_ name: ManifestShape.Name) -> ManifestShape {
        switch name {
        case .app: .app
        case .limits: .limits
        case .guests: .guests
        case .openableBy: .openableBy
        case .row: .row
        case .backoff: .backoff
        case .ping: .ping
        case .replicas: .replicas
        case .processLimits: .processLimits
        case .urlTarget: .urlTarget
        case .observation: .observation
        case .otherApp: .otherApp
        case .secret: .secret
        case .adapter: .adapter
        case .adaptedAction: .adaptedAction
        case .node: .node
        case .federation: .federation
        }
    }
}
