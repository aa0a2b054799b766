import StrataCore

/// An interface that a row provides, or that a live module has registered.
final class InterfaceRecord {
    let name: String
    let nameBytes: [UInt8]
    let owner: ModuleRecord
    /// Whether the owner's row provides it: it is the owner's alone, live or not.
    var isDeclared: Bool
    /// Whether the owner's session has it.
    var isLive = false
    var instances = Instances.single
    /// Nil where none are listed: then all pass, as `auth: false`.
    var actions: [Action]?

    enum Instances: String { case single, multiple }

    struct Action {
        var name: String
        var nameBytes: [UInt8]
        var needsAuthorization: Bool
    }

    init(name: String, owner: ModuleRecord, isDeclared: Bool) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.owner = owner
        self.isDeclared = isDeclared
    }

    func action(_ name: UnsafeRawBufferPointer) -> Action? {
        actions?.first { $0.nameBytes.count == name.count && $0.nameBytes.elementsEqual(name) }
    }
}

/// Where a URL leads.
final class URLTarget {
    let host: String
    let pattern: URLPattern
    let interface: String
    let action: String
    let owner: ModuleRecord
    /// Whether the owner's row maps it.
    var isDeclared: Bool

    init(
        host: String, pattern: URLPattern, interface: String, action: String, owner: ModuleRecord,
        isDeclared: Bool
    ) {
        self.host = host
        self.pattern = pattern
        self.interface = interface
        self.action = action
        self.owner = owner
        self.isDeclared = isDeclared
    }

    var to: String { "\(interface)/\(action)" }
}
